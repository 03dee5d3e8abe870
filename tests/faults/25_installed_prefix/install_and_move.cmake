# SPDX-License-Identifier: Apache-2.0
#
# Installs to a fresh prefix and builds C, C++ and task programs against it with pkg-config and with
# CMake. Runs each on an embedded engine and under each MPI, then moves the prefix and runs them
# again. These programs are in the prefix and move with it. Programs outside that were built before
# the move run without a rebuild: LD_LIBRARY_PATH names the moved library, which finds the modules
# beside it. Static programs find them by TUTTI_MODULE_PATH. Programs outside that are built against
# the moved prefix find its modules by its headers.
include("${CMAKE_CURRENT_LIST_DIR}/../../consumer/steps.cmake")
set(here "${CMAKE_CURRENT_LIST_DIR}/programs")
string(REPLACE "|" ";" launchers "${launchers}")
set(kind pkg-config)

set(programs lpf bsplib count_ranks use_workers)
set(package_lpf tutti-lpf)
set(package_bsplib tutti-lpf)
set(package_count_ranks tutti)
set(package_use_workers tutti)

# Builds the programs in `folder` with pkg-config of `prefix`, under the name pkg-config-<program>.
function(build_by_pkg_config folder)
  foreach(program IN LISTS programs)
    file(GLOB source "${here}/${program}.c" "${here}/${program}.cpp")
    ask_pkg_config(${package_${program}})
    if(source MATCHES "[.]c$")
      set(command "${c_compiler}" -std=c99 -Wall -Wextra -pedantic -Werror)
    else()
      set(command "${compiler}" -std=c++20)
    endif()
    must(${command} "${source}" -o "${folder}/pkg-config-${program}" ${flags})
  endforeach()
  set(ENV{LD_LIBRARY_PATH} "$ENV{LD_LIBRARY_PATH}" PARENT_SCOPE)
endfunction()

function(build_by_cmake folder)
  must("${CMAKE_COMMAND}" -S "${here}" -B "${work}/cmake" -G Ninja "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_C_COMPILER=${c_compiler}" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}")
  must("${CMAKE_COMMAND}" --build "${work}/cmake")
  file(REMOVE_RECURSE "${work}/cmake")
endfunction()

# The variable TUTTI_MODULE_PATH has the value of `modules`; it is unset if that is empty.
function(run_all folder modules)
  if(modules)
    set(ENV{TUTTI_MODULE_PATH} "${modules}")
  else()
    unset(ENV{TUTTI_MODULE_PATH})
  endif()
  foreach(program IN LISTS programs)
    foreach(how pkg-config cmake)
      set(file "${folder}/${how}-${program}")
      set(ENV{TUTTI_ENGINE} threads)
      set(ENV{TUTTI_RANKS} 2)
      must("${file}")
      if(NOT output STREQUAL "${program}: 2 ranks")
        message(FATAL_ERROR "${file} printed: ${output}")
      endif()
      unset(ENV{TUTTI_ENGINE})
      unset(ENV{TUTTI_RANKS})
      foreach(launcher IN LISTS launchers)
        must("${launcher}" -n 2 "${file}")
        if(NOT output STREQUAL "${program}: 2 ranks")
          message(FATAL_ERROR "${launcher} ${file} printed: ${output}")
        endif()
        message(STATUS "${launcher}: ${file}: ${output}")
      endforeach()
    endforeach()
  endforeach()
endfunction()

# Each program uses what its name says: use_workers has two workers if there is a module of workers.
set(ENV{TUTTI_TASK_WORKERS} 1)
if(workers)
  set(ENV{TUTTI_TASK_WORKERS} 2)
endif()

set(prefix "${work}/first")
must("${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}")
file(MAKE_DIRECTORY "${prefix}/bin")
build_by_pkg_config("${prefix}/bin")
build_by_cmake("${prefix}/bin")
run_all("${prefix}/bin" "")
set(earlier "${work}/built-before")
file(GLOB built "${prefix}/bin/pkg-config-*" "${prefix}/bin/cmake-*")
file(COPY ${built} DESTINATION "${earlier}")

file(RENAME "${prefix}" "${work}/second")
set(prefix "${work}/second")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${libdir}")
run_all("${prefix}/bin" "")
set(modules "")
if(NOT shared)
  set(modules "${prefix}/${libdir}/tutti")
endif()
run_all("${earlier}" "${modules}")

set(outside "${work}/programs")
file(MAKE_DIRECTORY "${outside}")
build_by_pkg_config("${outside}")
build_by_cmake("${outside}")
run_all("${outside}" "")
file(REMOVE_RECURSE "${work}")
