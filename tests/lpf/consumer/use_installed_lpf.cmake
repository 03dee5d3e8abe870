# SPDX-License-Identifier: Apache-2.0
#
# Builds main.c against an installed tutti::lpf in the way that `kind` names, and runs it.
#
#   find_package        the CMake package
#   pkg-config          tutti-lpf.pc, with the compiler's default linking
#   pkg-config-static   tutti-lpf.pc with --static; a static program if there is libtutti_lpf.a
include("${CMAKE_CURRENT_LIST_DIR}/../../consumer/steps.cmake")
set(here "${CMAKE_CURRENT_LIST_DIR}")
if(kind STREQUAL find_package)
  must("${CMAKE_COMMAND}" -S "${here}/find_package" -B "${work}" -G Ninja "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_C_COMPILER=${c_compiler}" "-DCMAKE_CXX_COMPILER=${compiler}")
  must("${CMAKE_COMMAND}" --build "${work}")
else()
  ask_pkg_config(tutti-lpf)
  must("${c_compiler}" -std=c99 -Wall -Wextra -pedantic -Werror "${here}/main.c" -o "${work}/consumer" ${link} ${flags})
endif()

must("${work}/consumer")
message(STATUS "${output}")
if(NOT output MATCHES "2 processes")
  message(FATAL_ERROR "expected 2 processes, got: ${output}")
endif()

# Runs the same program under each MPI. A static program cannot load a module, and reports it.
unset(ENV{TUTTI_ENGINE})
unset(ENV{TUTTI_RANKS})
unset(ENV{TUTTI_MODULE_PATH})  # the program finds the modules by its headers
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
string(REPLACE "|" ";" launchers "${launchers}")
foreach(launcher IN LISTS launchers)
  if(link STREQUAL "-static")
    execute_process(COMMAND "${launcher}" -n 2 "${work}/consumer" RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed EQUAL 0 OR output MATCHES "processes\n")
      message(FATAL_ERROR "${launcher} ran copies of a static program: ${output}")
    endif()
  else()
    must("${launcher}" -n 2 "${work}/consumer")
    message(STATUS "${launcher}: ${output}")
    if(NOT output STREQUAL "2 processes")
      message(FATAL_ERROR "expected 2 processes, reported once, under ${launcher}, got: ${output}")
    endif()
  endif()
endforeach()
