# SPDX-License-Identifier: Apache-2.0
#
# cmake -Dcompiler=... -Dincludes=... -Dsource=FILE -P must_not_compile.cmake
#
# Checks that FILE does not compile. Its first line is `// expect: TEXT`. The compiler must print
# TEXT and at most 20 lines, because users do not find a message in a long output.
file(STRINGS "${source}" first LIMIT_COUNT 1)
if(NOT first MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${source}: the first line must be `// expect: TEXT`")
endif()
set(expected "${CMAKE_MATCH_1}")

set(flags "")
foreach(directory IN LISTS includes)
  list(APPEND flags "-I${directory}")
endforeach()
execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=GCC_COLORS LC_ALL=C
    "${compiler}" -std=c++20 -fsyntax-only -fdiagnostics-color=never ${flags} "${source}"
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(failed EQUAL 0)
  message(FATAL_ERROR "${source} compiles, but must not")
endif()
string(FIND "${output}" "${expected}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the compiler did not print\n  ${expected}\nbut\n${output}")
endif()
string(REGEX MATCHALL "\n" newlines "${output}")
list(LENGTH newlines count)
if(count GREATER 20)
  message(FATAL_ERROR "the message has ${count} lines, 20 are allowed:\n${output}")
endif()
