# SPDX-License-Identifier: Apache-2.0
#
# Builds consumer.cpp against an installed tutti in the way that `kind` names, and runs it.
#
#   find_package        the CMake package
#   pkg-config          tutti.pc, with the compiler's default linking
#   pkg-config-static   tutti.pc with --static, and a static program if there is a libtutti.a
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
set(here "${CMAKE_CURRENT_LIST_DIR}")
if(kind STREQUAL find_package)
  must("${CMAKE_COMMAND}" -S "${here}/find_package" -B "${work}" -G Ninja "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_CXX_COMPILER=${compiler}")
  must("${CMAKE_COMMAND}" --build "${work}")
else()
  ask_pkg_config(tutti)
  must("${compiler}" -std=c++20 "${here}/consumer.cpp" -o "${work}/consumer" ${link} ${flags})
endif()

must("${work}/consumer")
message(STATUS "${output}")
if(NOT output MATCHES "2 ranks")
  message(FATAL_ERROR "expected 2 ranks, got: ${output}")
endif()

# Runs the same program under each MPI. The modules are found in the installation. A static program
# cannot load modules.
if(NOT kind STREQUAL pkg-config-static)
  unset(ENV{TUTTI_ENGINE})
  unset(ENV{TUTTI_RANKS})
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
  string(REPLACE "|" ";" launchers "${launchers}")
  foreach(launcher IN LISTS launchers)
    must("${launcher}" -n 2 "${work}/consumer")
    message(STATUS "${launcher}: ${output}")
    if(NOT output MATCHES "2 ranks")
      message(FATAL_ERROR "expected 2 ranks under ${launcher}, got: ${output}")
    endif()
  endforeach()
endif()
