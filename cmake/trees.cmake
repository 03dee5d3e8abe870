# SPDX-License-Identifier: Apache-2.0
#
# Puts the built-in trees into the library, as they are written. Run while building, whenever one has changed:
#
#   cmake -Dfolder=trees -Doutput=trees.cpp -P trees.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB files RELATIVE "${folder}" "${folder}/*.json")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${folder}/${file}" text)
  string(FIND "${text}" ")tree\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} contains )tree\", which ends a literal")
  endif()
  string(APPEND entries "  if (name == \"${name}\") return R\"tree(${text})tree\";\n")
endforeach()
file(WRITE "${output}.new" "// SPDX-License-Identifier: Apache-2.0
//
// Generated from the files of trees/.
#include \"select/tree.hpp\"

namespace tutti {

std::string_view builtin_tree(std::string_view name) noexcept {
${entries}  return {};
}

}  // namespace tutti
")
file(RENAME "${output}.new" "${output}")
