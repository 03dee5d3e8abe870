# SPDX-License-Identifier: Apache-2.0
#
# Generates the catalogue: reads the comment at the head of each file of src/algorithms and writes
# the table of all algorithms. The build runs it whenever such a file has changed:
#
#   cmake -Dkind=algorithms "-Dfolders=src;other/folder" -Doutput=all.cpp -P catalogue.cmake
#
# A file algorithms/<collective>/<name>.cpp of one of the folders begins with
#
#   // SPDX-License-Identifier: Apache-2.0
#   //
#   // <collective>/<name>[, <other collective>/<name> ...]
#   //
#   // The idea, in words.
#   //
#   // Source:       its authors and the year
#   // Restrictions: names of schedule/algorithm.hpp                      default: none
#   // Reach:        which ranks it sends to and receives from, by names of
#                    base/group/reach.hpp ("neighbors around"). With "... with k = 2" it
#                    holds for this value of a parameter only             default: any rank
#   // Parameters:   name = default in min..max: meaning; ...             default: none
#                    the names are those of schedule/shape.hpp
#   // Rounds:       a formula (docs/algorithms.md defines the syntax)
#   // Bytes:        a formula: what the busiest rank sends or receives
#   // Scratch:      a formula: the memory of the rank that needs most
#   // Good for:     words
#
# and defines tutti::algorithms::<collective>_<name>::write(const shape&, builder&). Continuation
# lines are indented by two more spaces.
#
# With -Dkind=compositions it writes the table of the compositions. The head of a file
# compositions/<name>.cpp has the same form, with one name <collective>/<name> for each collective
# that it composes. If an idea has different restrictions for different collectives, it consists of
# several files <name>_<what>.cpp. In place of the reach and the three formulas the head has
#
#   // Calls:        the calls that it consists of, in words
#
# and the file defines tutti::compositions::<name>::plan(planner&).
cmake_minimum_required(VERSION 3.25)

# Reads the names of an enumeration from a header of this project.
function(names_of enumeration file variable)
  file(READ "${CMAKE_CURRENT_LIST_DIR}/../${file}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  if(NOT text MATCHES "enum class ${enumeration} [^{]*{([^}]*)}")
    message(FATAL_ERROR "${file}: there is no enumeration ${enumeration}, in which the catalogue looks for names")
  endif()
  string(REGEX REPLACE "=[^,]*" "" names "${CMAKE_MATCH_1}")
  string(REGEX MATCHALL "[a-z0-9_]+" names "${names}")
  list(REMOVE_ITEM names none)
  set(${variable} "${names}" PARENT_SCOPE)
endfunction()
names_of(collective include/tutti/collective.hpp collectives)
names_of(restriction src/schedule/algorithm.hpp restrictions)
names_of(algorithm_parameter src/schedule/shape.hpp parameter_names)
names_of(reach src/base/group/reach.hpp reaches)

if(kind STREQUAL "compositions")
  set(one "a composition")
  set(kind_keywords Calls)
  set(further_keywords "")
  set(form "<name>.cpp")
  set(reserved_names null auto native)  # reserved words of decision trees and calls
  set(type composed_algorithm)
  set(table composition_catalogue)
  set(header "schedule/composite/composition.hpp")
  set(function "void plan(planner&)")
else()
  set(one "an algorithm")
  set(kind_keywords Rounds Bytes Scratch)
  set(further_keywords Reach)
  set(form "<collective>/<name>.cpp")
  set(reserved_names native)
  set(type pure_algorithm)
  set(table catalogue)
  set(header "schedule/algorithm.hpp")
  set(function "void write(const shape&, builder&)")
endif()
set(keywords Source Restrictions Parameters ${further_keywords} ${kind_keywords} Good_for)
set(required Source ${kind_keywords} Good_for)

# Makes a C++ string literal of a text.
function(quoted text variable)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

set(files "")  # folder|file, in the order of the files
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE found RELATIVE "${folder}/${kind}" "${folder}/${kind}/*.cpp")
  list(TRANSFORM found APPEND "|${folder}")
  list(APPEND files ${found})
endforeach()
list(SORT files)
set(declarations "")
set(tables "")
set(entries "")
set(names "")
foreach(file IN LISTS files)
  string(REGEX MATCH "^([^|]*)\\|(.*)$" file "${file}")
  set(short_file "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}/${kind}/${CMAKE_MATCH_1}")
  if(kind STREQUAL "compositions" AND short_file MATCHES "^([a-z0-9_]+)\\.cpp$")
    set(symbol "${CMAKE_MATCH_1}")
    set(file_name "${CMAKE_MATCH_1}")
  elseif(kind STREQUAL "algorithms" AND short_file MATCHES "^([a-z0-9_]+)/([a-z0-9_]+)\\.cpp$")
    set(symbol "${CMAKE_MATCH_1}_${CMAKE_MATCH_2}")
    set(file_entry "${CMAKE_MATCH_1}/${CMAKE_MATCH_2}")
  else()
    message(FATAL_ERROR "${file}: ${one} is called ${kind}/${form}, in [a-z0-9_]")
  endif()
  file(READ "${file}" text)
  # These characters would break lists of CMake.
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
        list(JOIN keywords ":, " known)
        string(REPLACE "_" " " known "${known}:")
        message(FATAL_ERROR "${file}: the head has \"${CMAKE_MATCH_1}:\", known are ${known}")
      endif()
    elseif(field_names STREQUAL "")
      set(current names)
    elseif(NOT line MATCHES "^  ")
      if(current STREQUAL "" OR current STREQUAL "names" OR current STREQUAL "idea")
        set(current idea)
      else()
        message(FATAL_ERROR "${file}: a continuation line of the head must be indented by two: ${line}")
      endif()
    endif()
    string(STRIP "${line}" line)
    string(STRIP "${field_${current}} ${line}" "field_${current}")
  endforeach()
  foreach(keyword IN LISTS required)
    if(field_${keyword} STREQUAL "")
      string(REPLACE "_" " " keyword "${keyword}")
      message(FATAL_ERROR "${file}: the head lacks \"${keyword}:\"")
    endif()
  endforeach()
  if(field_idea STREQUAL "")
    message(FATAL_ERROR "${file}: the head has no description")
  endif()
  foreach(keyword IN LISTS keywords ITEMS idea)
    string(REPLACE "@semicolon@" ";" "field_${keyword}" "${field_${keyword}}")
    string(REPLACE "@open@" "[" "field_${keyword}" "${field_${keyword}}")
    string(REPLACE "@close@" "]" "field_${keyword}" "${field_${keyword}}")
  endforeach()

  # The restrictions.
  set(needs "restriction::none")
  string(REPLACE " " "" demands "${field_Restrictions}")
  string(REPLACE "," ";" demands "${demands}")
  foreach(demand IN LISTS demands)
    if(NOT demand IN_LIST restrictions)
      list(JOIN restrictions ", " known)
      message(FATAL_ERROR "${file}: there is no restriction \"${demand}\", known are ${known}")
    endif()
    string(APPEND needs " | restriction::${demand}")
  endforeach()
  string(REPLACE "restriction::none | " "" needs "${needs}")

  # The reach.
  set(reach "reach::any_rank")
  if(field_Reach)
    if(NOT field_Reach MATCHES "^([a-z ]+[a-z])( with ([a-z]+) = ([0-9]+))?$")
      message(FATAL_ERROR "${file}: a reach must have the form \"hops around with k = 2\", not \"${field_Reach}\"")
    endif()
    set(of_parameter "")
    if(CMAKE_MATCH_3)
      set(of_parameter ", algorithm_parameter::${CMAKE_MATCH_3}, ${CMAKE_MATCH_4}")
    endif()
    string(REGEX REPLACE " with .*" "" reach "${field_Reach}")
    string(REPLACE " " "_" reach "${reach}")
    if(NOT reach IN_LIST reaches)
      list(JOIN reaches ", " known)
      string(REPLACE "_" " " known "${known}")
      message(FATAL_ERROR "${file}: there is no reach \"${field_Reach}\", known are ${known}")
    endif()
    set(reach "reach::${reach}${of_parameter}")
  endif()

  # The parameters.
  set(parameters "")
  set(span "{}")
  string(REGEX REPLACE "; *" "@" described "${field_Parameters}")
  string(REPLACE "@" ";" described "${described}")
  foreach(one_parameter IN LISTS described)
    if(NOT one_parameter MATCHES "^([a-z]+) = ([0-9]+) in ([0-9]+)\\.\\.([0-9]+): (.+)$")
      message(FATAL_ERROR "${file}: a parameter must have the form \"k = 2 in 2..64: meaning\", not \"${one_parameter}\"")
    endif()
    set(parameter_name "${CMAKE_MATCH_1}")
    set(values "${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}, ${CMAKE_MATCH_4}")
    quoted("${CMAKE_MATCH_5}" what)
    if(CMAKE_MATCH_2 LESS CMAKE_MATCH_3 OR CMAKE_MATCH_2 GREATER CMAKE_MATCH_4)
      message(FATAL_ERROR "${file}: the default value is out of range: \"${one_parameter}\"")
    endif()
    if(NOT parameter_name IN_LIST parameter_names)
      list(JOIN parameter_names ", " known)
      message(FATAL_ERROR "${file}: there is no parameter \"${parameter_name}\", known are ${known}")
    endif()
    if(parameters MATCHES "{algorithm_parameter::${parameter_name},")
      message(FATAL_ERROR "${file}: there are two parameters \"${parameter_name}\"")
    endif()
    string(APPEND parameters "    {algorithm_parameter::${parameter_name}, ${values}, ${what}},\n")
  endforeach()
  if(NOT parameters STREQUAL "")
    string(APPEND tables "constexpr algorithm_parameter_range ${symbol}_parameters[] = {\n${parameters}};\n")
    set(span "${symbol}_parameters")
  endif()

  string(APPEND declarations "namespace ${symbol} {\n${function};\n}\n")
  string(REPLACE " " "" all_names "${field_names}")
  string(REPLACE "," ";" all_names "${all_names}")
  list(GET all_names 0 first)
  if(NOT kind STREQUAL "compositions" AND NOT first STREQUAL file_entry)
    message(FATAL_ERROR "${file}: the head begins with ${first}, but the file is ${file_entry}")
  endif()
  quoted("${field_idea}" idea)
  quoted("${field_Source}" source)
  if(kind STREQUAL "compositions")
    quoted("${field_Calls}" calls)
    set(kind_fields "${calls},\n  ${symbol}::plan,")
  else()
    quoted("${field_Rounds}" rounds)
    quoted("${field_Bytes}" bytes)
    quoted("${field_Scratch}" scratch)
    set(kind_fields "${rounds},\n  ${bytes},\n  ${scratch},\n  ${symbol}::write,")
  endif()
  quoted("${field_Good_for}" good_for)
  foreach(name IN LISTS all_names)
    if(NOT name MATCHES "^([a-z0-9_]+)/([a-z0-9_]+)$")
      message(FATAL_ERROR "${file}: \"${name}\" is not <collective>/<name>")
    endif()
    set(what "${CMAKE_MATCH_1}")
    set(short "${CMAKE_MATCH_2}")
    if(NOT what IN_LIST collectives)
      list(JOIN collectives ", " known)
      message(FATAL_ERROR "${file}: there is no collective \"${what}\", known are ${known}")
    endif()
    if(short IN_LIST reserved_names)
      message(FATAL_ERROR "${file}: \"${short}\" means something else where ${one} is named")
    endif()
    if(kind STREQUAL "compositions" AND NOT "${file_name}_" MATCHES "^${short}_")
      message(FATAL_ERROR "${file}: \"${name}\" does not end in the name of the file, or in what it begins with")
    endif()
    if(name IN_LIST names)
      message(FATAL_ERROR "${file}: there is another ${name}, in ${file_of_${name}}")
    endif()
    list(APPEND names "${name}")
    set("file_of_${name}" "${file}")
    set("entry_${name}" "constexpr ${type} entry_${what}_${short} = {{
    .name = \"${name}\",
    .what = collective::${what},
    .restrictions = ${needs},
    .claimed_reach = {${reach}},
    .idea = ${idea},
    .source = ${source},
    .good_for = ${good_for},
    .parameters = ${span}},
  ${kind_fields}
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
// Generated from the heads of the files of ${kind}, in the order of the names.
#include <span>

#include \"${header}\"

namespace tutti::${kind} {

${declarations}
namespace {

${tables}
${constants}
}  // namespace
}  // namespace tutti::${kind}

namespace tutti::detail {

std::span<const ${type}* const> ${table}() noexcept {
  static constexpr const ${type}* all[] = {
${entries}  };
  return all;
}

}  // namespace tutti::detail
")
file(RENAME "${output}.new" "${output}")
