# SPDX-License-Identifier: Apache-2.0
#
# Generates the table of engines while the build is configured.

# tutti_generate_engines(engines output folder ...): An engine is a folder with a file engine.cpp
# that defines the constant tutti::detail::engine_<name> (src/engines/engine_table.hpp). Sets the
# list <engines> to the folders of these engines. Writes their table, ordered by name, to <output>.
# The table refers to each engine, so that no linker can drop one from a static library.
function(tutti_generate_engines engines output)
  set(found "")
  set(engine_folders "")
  foreach(folder IN LISTS ARGN)
    file(GLOB files CONFIGURE_DEPENDS "${folder}/*/engine.cpp")
    foreach(file IN LISTS files)
      cmake_path(GET file PARENT_PATH engine_folder)
      cmake_path(GET engine_folder FILENAME name)
      file(STRINGS "${file}" name_line REGEX "\\.name = \"${name}\",")
      if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR NOT name_line)
        message(FATAL_ERROR "${file}: an engine has the name of its folder, in [a-z0-9_], but this one has .name = \"${name}\",")
      endif()
      list(APPEND found ${name})
      list(APPEND engine_folders "${engine_folder}")
    endforeach()
  endforeach()
  list(SORT found)
  set(declarations "")
  foreach(name IN LISTS found)
    string(APPEND declarations "extern const engine_entry engine_${name};\n")
  endforeach()
  list(TRANSFORM found PREPEND "&engine_" OUTPUT_VARIABLE entries)
  string(JOIN ", " entries ${entries})
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0
//
// Generated from the folders of the engines.
#include "engines/engine_table.hpp"

namespace tutti::detail {

@declarations@
std::span<const engine_entry* const> engines() noexcept {
  static constexpr const engine_entry* all[] = {@entries@};
  return all;
}

}  // namespace tutti::detail
]])
  set(${engines} ${engine_folders} PARENT_SCOPE)
endfunction()
