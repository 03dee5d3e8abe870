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
message(STATUS "${said}")
if(NOT said MATCHES "2 processes")
  message(FATAL_ERROR "expected 2 processes, got: ${said}")
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
    execute_process(COMMAND "${launcher}" -n 2 "${work}/consumer" RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(failed EQUAL 0 OR said MATCHES "processes\n")
      message(FATAL_ERROR "${launcher} ran copies of a static program: ${said}")
    endif()
  else()
    must("${launcher}" -n 2 "${work}/consumer")
    message(STATUS "${launcher}: ${said}")
    if(NOT said STREQUAL "2 processes")
      message(FATAL_ERROR "expected 2 processes, told once, under ${launcher}, got: ${said}")
    endif()
  endif()
endforeach()
