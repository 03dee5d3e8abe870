# SPDX-License-Identifier: Apache-2.0
#
# Builds main.cpp against an installed tutti, the way that `kind` says, and runs it.
#   find_package        the CMake package
#   pkg-config          tutti.pc, linked as the compiler likes to
#   pkg-config-static   tutti.pc with --static, and a program that is static where there is a libtutti.a
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${failed}:\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

set(here "${CMAKE_CURRENT_LIST_DIR}")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

if(kind STREQUAL find_package)
  must("${CMAKE_COMMAND}" -S "${here}/find_package" -B "${work}" -G Ninja "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_CXX_COMPILER=${compiler}")
  must("${CMAKE_COMMAND}" --build "${work}")
else()
  find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${libdir}/pkgconfig")
  set(how "")
  set(link "")
  if(kind STREQUAL pkg-config-static)
    set(how --static)
    if(NOT shared)
      set(link -static)
    endif()
  endif()
  must("${pkg_config}" ${how} --cflags --libs tutti)
  separate_arguments(flags UNIX_COMMAND "${said}")
  must("${compiler}" -std=c++20 "${here}/main.cpp" -o "${work}/consumer" ${link} ${flags})
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${libdir}:$ENV{LD_LIBRARY_PATH}")
endif()

must("${work}/consumer")
message(STATUS "${said}")
if(NOT said MATCHES "2 ranks")
  message(FATAL_ERROR "expected 2 ranks, got: ${said}")
endif()

# The same program under each MPI: the modules are found beside the installation. A static program cannot load any.
if(NOT kind STREQUAL pkg-config-static)
  unset(ENV{TUTTI_ENGINE})
  unset(ENV{TUTTI_RANKS})
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
  set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
  string(REPLACE "|" ";" launchers "${launchers}")
  foreach(launcher IN LISTS launchers)
    must("${launcher}" -n 2 "${work}/consumer")
    message(STATUS "${launcher}: ${said}")
    if(NOT said MATCHES "2 ranks")
      message(FATAL_ERROR "expected 2 ranks under ${launcher}, got: ${said}")
    endif()
  endforeach()
endif()
