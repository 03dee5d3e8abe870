# SPDX-License-Identifier: Apache-2.0
#
# Embeds the machine files into the library, as text. The build runs it whenever a file has changed:
#
#   cmake -Dfolder=machines -Doutput=machines.cpp -P machines.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB files RELATIVE "${folder}" "${folder}/*.json")
list(SORT files)
set(entries "")
set(list "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${folder}/${file}" text)
  string(FIND "${text}" ")machine\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains )machine\", which ends a literal")
  endif()
  string(APPEND entries "  if (name == \"${name}\") return R\"machine(${text})machine\";\n")
  string(APPEND list "    \"${name}\",\n")
endforeach()
file(WRITE "${output}.new" "// SPDX-License-Identifier: Apache-2.0
//
// Generated from the files of machines/.
#include \"simulation/read_machine.hpp\"

namespace tutti::simulation {

std::string_view builtin_machine(std::string_view name) noexcept {
${entries}  return {};
}

std::span<const std::string_view> builtin_machine_names() noexcept {
  static constexpr std::string_view names[] = {
${list}  };
  return names;
}

}  // namespace tutti::simulation
")
file(RENAME "${output}.new" "${output}")
