# SPDX-License-Identifier: Apache-2.0
#
# Writes the catalogue: reads the comment at the head of every file of src/algorithms and makes the table of all
# algorithms of it. Run while building, whenever such a file has changed:
#
#   cmake -Dfolder=src/algorithms -Doutput=catalogue.cpp -P catalogue.cmake
#
# A file <collective>/<name>.cpp begins with
#
#   // SPDX-License-Identifier: Apache-2.0
#   //
#   // <collective>/<name>[, <other collective>/<name> ...]
#   //
#   // The idea, in words.
#   //
#   // Source:       who had it
#   // Restrictions: what it demands (schedule/algorithm.hpp has the names)       left out: nothing
#   // Parameters:   name = usual in least..most: what it is; ...                 left out: none
#   // Rounds:       a formula
#   // Bytes:        a formula: what the busiest rank sends
#   // Scratch:      a formula: of the rank that needs most
#   // Good for:     words
#
# and defines tutti::algorithms::<collective>_<name>::write(const shape&, builder&). Lines that go on are indented by
# two more spaces.
#
# With -Dkind=compositions it makes the table of src/compositions. A file <name>.cpp there begins alike, with one name
# <collective>/<name> for each collective it composes. An idea that demands different things of different collectives is
# several files, <name>_<what>.cpp. Instead of the three formulas it has
#
#   // Calls:        what it is made of, in words
#
# and it defines tutti::compositions::<name>::plan(planner&).
cmake_minimum_required(VERSION 3.25)

set(collectives barrier bcast reduce allreduce gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv
  alltoallw reduce_scatter reduce_scatter_block scan exscan neighbor_allgatherv neighbor_alltoallv)
if(kind STREQUAL "compositions")
  set(own_keywords Calls)
  set(pattern "*.cpp")
  set(type composed_algorithm)
  set(table composition_catalogue)
  set(header "compose/composition.hpp")
  set(function "void plan(planner&)")
else()
  set(own_keywords Rounds Bytes Scratch)
  set(pattern "*/*.cpp")
  set(kind algorithms)
  set(type pure_algorithm)
  set(table catalogue)
  set(header "schedule/algorithm.hpp")
  set(function "void write(const shape&, builder&)")
endif()
set(keywords Source Restrictions Parameters ${own_keywords} Good_for)
set(required Source ${own_keywords} Good_for)

# Text as a C++ literal.
function(quoted text variable)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

file(GLOB files RELATIVE "${folder}" "${folder}/${pattern}")
list(SORT files)
set(declarations "")
set(tables "")
set(entries "")
set(names "")
foreach(file IN LISTS files)
  if(kind STREQUAL "compositions")
    if(NOT file MATCHES "^([a-z0-9_]+)\\.cpp$")
      message(FATAL_ERROR "${file}: a composition is called <name>.cpp, in [a-z0-9_]")
    endif()
    set(symbol "${CMAKE_MATCH_1}")
    set(own_name "${CMAKE_MATCH_1}")
  else()
    if(NOT file MATCHES "^([a-z0-9_]+)/([a-z0-9_]+)\\.cpp$")
      message(FATAL_ERROR "${file}: an algorithm is called <collective>/<name>.cpp, in [a-z0-9_]")
    endif()
    set(symbol "${CMAKE_MATCH_1}_${CMAKE_MATCH_2}")
    set(own "${CMAKE_MATCH_1}/${CMAKE_MATCH_2}")
  endif()
  file(READ "${folder}/${file}" text)
  # Lists of CMake break at what these stand for.
  string(REPLACE ";" "@semicolon@" text "${text}")
  string(REPLACE "[" "@open@" text "${text}")
  string(REPLACE "]" "@close@" text "${text}")
  string(REGEX MATCH "^(//[^\n]*\n)+" head "${text}")
  string(REGEX MATCHALL "//[^\n]*" lines "${head}")
  foreach(keyword IN LISTS keywords)
    set("field_${keyword}" "")
  endforeach()
  set(field_idea "")
  set(field_names "")
  set(current "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^// ?" "" line "${line}")
    if(line MATCHES "^SPDX-" OR line STREQUAL "")
      continue()
    endif()
    if(line MATCHES "^([A-Z][a-z]+( for)?): +(.+)$")
      set(line "${CMAKE_MATCH_3}")
      string(REPLACE " " "_" current "${CMAKE_MATCH_1}")
      if(NOT current IN_LIST keywords)
        message(FATAL_ERROR "${file}: the head has \"${current}:\", known are ${keywords}")
      endif()
    elseif(field_names STREQUAL "")
      set(current names)
    elseif(NOT line MATCHES "^  ")
      if(current STREQUAL "" OR current STREQUAL "names" OR current STREQUAL "idea")
        set(current idea)
      else()
        message(FATAL_ERROR "${file}: a line of the head that goes on is indented by two: ${line}")
      endif()
    endif()
    string(STRIP "${line}" line)
    string(STRIP "${field_${current}} ${line}" "field_${current}")
  endforeach()
  foreach(keyword IN LISTS required)
    if(field_${keyword} STREQUAL "")
      message(FATAL_ERROR "${file}: the head lacks \"${keyword}:\"")
    endif()
  endforeach()
  if(field_idea STREQUAL "")
    message(FATAL_ERROR "${file}: the head does not say the idea")
  endif()
  foreach(keyword IN LISTS keywords ITEMS idea)
    string(REPLACE "@semicolon@" ";" "field_${keyword}" "${field_${keyword}}")
    string(REPLACE "@open@" "[" "field_${keyword}" "${field_${keyword}}")
    string(REPLACE "@close@" "]" "field_${keyword}" "${field_${keyword}}")
  endforeach()

  # What it demands.
  set(needs "restriction::none")
  string(REPLACE " " "" demands "${field_Restrictions}")
  string(REPLACE "," ";" demands "${demands}")
  foreach(demand IN LISTS demands)
    string(APPEND needs " | restriction::${demand}")
  endforeach()
  string(REPLACE "restriction::none | " "" needs "${needs}")

  # Its parameters.
  set(parameters "")
  set(span "{}")
  string(REGEX REPLACE "; *" "@" described "${field_Parameters}")
  string(REPLACE "@" ";" described "${described}")
  foreach(one IN LISTS described)
    if(NOT one MATCHES "^([a-z]+) = ([0-9]+) in ([0-9]+)\\.\\.([0-9]+): (.+)$")
      message(FATAL_ERROR "${file}: a parameter is described as \"k = 2 in 2..64: what it is\", not \"${one}\"")
    endif()
    set(knob "knob::${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}, ${CMAKE_MATCH_4}")
    quoted("${CMAKE_MATCH_5}" what)
    string(APPEND parameters "    {${knob}, ${what}},\n")
  endforeach()
  if(NOT parameters STREQUAL "")
    string(APPEND tables "constexpr knob_range ${symbol}_parameters[] = {\n${parameters}};\n")
    set(span "${symbol}_parameters")
  endif()

  string(APPEND declarations "namespace ${symbol} {\n${function};\n}\n")
  string(REPLACE " " "" all_names "${field_names}")
  string(REPLACE "," ";" all_names "${all_names}")
  list(GET all_names 0 first)
  if(NOT kind STREQUAL "compositions" AND NOT first STREQUAL own)
    message(FATAL_ERROR "${file}: the head begins with ${first}, where the file is ${own}")
  endif()
  quoted("${field_idea}" idea)
  quoted("${field_Source}" source)
  if(kind STREQUAL "compositions")
    quoted("${field_Calls}" calls)
    set(own_fields "${calls},\n  ${symbol}::plan,")
  else()
    quoted("${field_Rounds}" rounds)
    quoted("${field_Bytes}" bytes)
    quoted("${field_Scratch}" scratch)
    set(own_fields "${rounds},\n  ${bytes},\n  ${scratch},\n  ${symbol}::write,")
  endif()
  quoted("${field_Good_for}" good_for)
  foreach(name IN LISTS all_names)
    if(NOT name MATCHES "^([a-z0-9_]+)/([a-z0-9_]+)$" OR NOT CMAKE_MATCH_1 IN_LIST collectives)
      message(FATAL_ERROR "${file}: \"${name}\" is not <collective>/<name>")
    endif()
    set(what "${CMAKE_MATCH_1}")
    set(short "${CMAKE_MATCH_2}")
    if(kind STREQUAL "compositions" AND NOT "${own_name}_" MATCHES "^${short}_")
      message(FATAL_ERROR "${file}: \"${name}\" does not end in the name of the file, or what it begins with")
    endif()
    if(name IN_LIST names)
      message(FATAL_ERROR "${file}: there is another ${name}")
    endif()
    list(APPEND names "${name}")
    set("entry_${name}" "constexpr ${type} entry_${what}_${short} = {{
    .name = \"${name}\",
    .what = collective::${what},
    .needs = ${needs},
    .idea = ${idea},
    .source = ${source},
    .good_for = ${good_for},
    .parameters = ${span}},
  ${own_fields}
};
")
  endforeach()
endforeach()

list(SORT names)
set(constants "")
foreach(name IN LISTS names)
  string(APPEND constants "${entry_${name}}")
  string(REPLACE "/" "_" symbol "${name}")
  string(APPEND entries "    &${kind}::entry_${symbol},\n")
endforeach()
file(WRITE "${output}.new" "// SPDX-License-Identifier: Apache-2.0
//
// Generated from the heads of the files of src/${kind}, in the order of the names.
#include <span>

#include \"${header}\"

namespace tutti::${kind} {

${declarations}
namespace {

${tables}
${constants}
}  // namespace
}  // namespace tutti::${kind}

namespace tutti {

std::span<const ${type}* const> ${table}() noexcept {
  static constexpr const ${type}* all[] = {
${entries}  };
  return all;
}

}  // namespace tutti
")
file(RENAME "${output}.new" "${output}")
