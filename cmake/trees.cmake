# SPDX-License-Identifier: Apache-2.0
#
# Embeds the built-in decision trees into the library, as text. The build runs it whenever a tree
# has changed:
#
#   cmake -Dfolder=trees "-Dengines=fibers;mpi" -Doutput=trees.cpp -P trees.cmake
#
# An engine without a file of its own uses the common tree. The trees of the folder peers/ state
# what other libraries choose. Their names begin with "peers/", and builtin_tree_names() leaves them
# out.
cmake_minimum_required(VERSION 3.25)

file(GLOB files RELATIVE "${folder}" "${folder}/*.json")
set(names ${engines})
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  list(APPEND names "${name}")
endforeach()
list(SORT names)
list(REMOVE_DUPLICATES names)
file(GLOB peers RELATIVE "${folder}" "${folder}/peers/*.json")
list(TRANSFORM peers REPLACE "\\.json$" "")
list(SORT peers)
set(entries "")
set(list "")
foreach(name IN LISTS names peers)
  if(EXISTS "${folder}/${name}.json")
    file(READ "${folder}/${name}.json" text)
  else()
    set(text "{\"schema\": \"tutti/tree/1\", \"extends\": \"common\"}")
  endif()
  string(FIND "${text}" ")tree\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${name}.json contains )tree\", which ends a literal")
  endif()
  string(APPEND entries "  if (name == \"${name}\") return R\"tree(${text})tree\";\n")
  if(NOT name IN_LIST peers)
    string(APPEND list "    \"${name}\",\n")
  endif()
endforeach()
file(WRITE "${output}.new" "// SPDX-License-Identifier: Apache-2.0
//
// Generated from the files of trees/ and the names of the engines.
#include \"selection/tree.hpp\"

namespace tutti::detail {

std::string_view builtin_tree(std::string_view name) noexcept {
${entries}  return {};
}

std::span<const std::string_view> builtin_tree_names() noexcept {
  static constexpr std::string_view names[] = {
${list}  };
  return names;
}

}  // namespace tutti::detail
")
file(RENAME "${output}.new" "${output}")
