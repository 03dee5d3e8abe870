# SPDX-License-Identifier: Apache-2.0
#
# The table of engines, made when the build is configured.

# tutti_generate_engines(engines output folder ...): an engine is a folder that holds engine.cpp, which defines the
# constant tutti::engine_<name> (src/engines/engine.hpp). Puts the folders of these engines into the list <engines>, and
# their table, by name, into <output>, which refers to each of them, so that no linker can drop one out of a static
# library.
function(tutti_generate_engines engines output)
  set(found "")
  set(owns "")
  foreach(folder IN LISTS ARGN)
    file(GLOB files CONFIGURE_DEPENDS "${folder}/*/engine.cpp")
    foreach(file IN LISTS files)
      cmake_path(GET file PARENT_PATH own)
      cmake_path(GET own FILENAME name)
      file(STRINGS "${file}" said REGEX "\\.name = \"${name}\",")
      if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR NOT said)
        message(FATAL_ERROR "${file}: an engine has the name of its folder, in [a-z0-9_], but this one has .name = \"${name}\",")
      endif()
      list(APPEND found ${name})
      list(APPEND owns "${own}")
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
#include "engines/engine.hpp"

namespace tutti {

@declarations@
std::span<const engine_entry* const> engines() noexcept {
  static constexpr const engine_entry* all[] = {@entries@};
  return all;
}

}  // namespace tutti
]])
  set(${engines} ${owns} PARENT_SCOPE)
endfunction()
