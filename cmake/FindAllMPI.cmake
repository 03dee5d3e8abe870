# SPDX-License-Identifier: Apache-2.0
#
# Every MPI of this machine, side by side (CMake's own FindMPI knows one only). An MPI is found by its compiler
# wrapper: mpicc.openmpi and mpicc.mpich first, as Debian names them, then a plain mpicc.
#
#   TUTTI_MPIS                      names of the ones found: openmpi, mpich
#   TUTTI_MPI_PICKED                the one that CMake's FindMPI picks, else the first
#   TUTTI_MPI_<name>_INCLUDE_DIRS   where its mpi.h is
#   TUTTI_MPI_<name>_LIBRARIES      its C library, by path; nothing of its C++ bindings
#   TUTTI_MPI_<name>_LAUNCHER       its mpirun, empty where there is none
#   TUTTI_MPI_<name>_LAUNCHER_FLAGS what lets it start more ranks than cores, and as root
#   TUTTI_MPI_<name>_ENVIRONMENT    the same for the environment

set(TUTTI_MPIS "")
set(TUTTI_MPI_PICKED "")
set(TUTTI_MPI_openmpi_LAUNCHER_FLAGS --oversubscribe --allow-run-as-root)
set(TUTTI_MPI_openmpi_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
set(TUTTI_MPI_mpich_LAUNCHER_FLAGS "")
set(TUTTI_MPI_mpich_ENVIRONMENT "")

# What the wrapper would run, and whose it is: sets <prefix>_line and <prefix>_name, both empty where it fails.
function(tutti_ask_mpi_wrapper wrapper prefix)
  set(name "")
  execute_process(COMMAND "${wrapper}" --showme RESULT_VARIABLE failed OUTPUT_VARIABLE line ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed EQUAL 0 AND line MATCHES "-lmpi")
    set(name openmpi)
  else()
    execute_process(COMMAND "${wrapper}" -show RESULT_VARIABLE failed OUTPUT_VARIABLE line ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND line MATCHES "-lmpi")
      set(name mpich)
    endif()
  endif()
  set(${prefix}_line "${line}" PARENT_SCOPE)
  set(${prefix}_name "${name}" PARENT_SCOPE)
endfunction()

# Takes include directories and libraries out of the wrapper's command line.
function(tutti_take_mpi name wrapper line)
  separate_arguments(words UNIX_COMMAND "${line}")
  set(includes "")
  set(directories "")
  set(names "")
  foreach(word IN LISTS words)
    if(word MATCHES "^-(I|isystem)(/.+)$")
      list(APPEND includes "${CMAKE_MATCH_2}")
    elseif(word MATCHES "^-L(.+)$")
      list(APPEND directories "${CMAKE_MATCH_1}")
    elseif(word MATCHES "cxx$|^-l(pthread|dl|m|c)$")
      continue()  # bindings for C++, and what every program links anyway
    elseif(word MATCHES "^-l(.+)$")
      list(APPEND names "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(libraries "")
  foreach(library IN LISTS names)
    find_library(TUTTI_MPI_${name}_LIBRARY_${library} ${library} HINTS ${directories})
    mark_as_advanced(TUTTI_MPI_${name}_LIBRARY_${library})
    if(TUTTI_MPI_${name}_LIBRARY_${library})
      list(APPEND libraries "${TUTTI_MPI_${name}_LIBRARY_${library}}")
    endif()
  endforeach()
  find_path(TUTTI_MPI_${name}_HEADER mpi.h HINTS ${includes})
  mark_as_advanced(TUTTI_MPI_${name}_HEADER)
  if(NOT libraries OR NOT TUTTI_MPI_${name}_HEADER)
    message(WARNING "${wrapper} names an MPI whose ${name} library or mpi.h is missing: no engine for it")
    return()
  endif()
  if(NOT includes)
    set(includes "${TUTTI_MPI_${name}_HEADER}")
  endif()
  get_filename_component(bin "${wrapper}" DIRECTORY)
  find_program(TUTTI_MPI_${name}_LAUNCHER NAMES mpirun.${name} mpiexec.${name} mpirun mpiexec HINTS "${bin}")
  mark_as_advanced(TUTTI_MPI_${name}_LAUNCHER)
  if(NOT TUTTI_MPI_${name}_LAUNCHER)
    set(TUTTI_MPI_${name}_LAUNCHER "" PARENT_SCOPE)
  endif()
  set(TUTTI_MPI_${name}_INCLUDE_DIRS "${includes}" PARENT_SCOPE)
  set(TUTTI_MPI_${name}_LIBRARIES "${libraries}" PARENT_SCOPE)
  set(TUTTI_MPIS ${TUTTI_MPIS} ${name} PARENT_SCOPE)
  message(STATUS "Found MPI ${name}: ${wrapper}")
endfunction()

foreach(suffix .openmpi .mpich "")
  string(REPLACE "." "" id "${suffix}")
  find_program(TUTTI_MPI_WRAPPER_${id} NAMES mpicc${suffix} mpicxx${suffix})
  mark_as_advanced(TUTTI_MPI_WRAPPER_${id})
  if(TUTTI_MPI_WRAPPER_${id})
    tutti_ask_mpi_wrapper("${TUTTI_MPI_WRAPPER_${id}}" asked)
    if(asked_name AND NOT asked_name IN_LIST TUTTI_MPIS)
      tutti_take_mpi(${asked_name} "${TUTTI_MPI_WRAPPER_${id}}" "${asked_line}")
    endif()
  endif()
endforeach()

if(TUTTI_MPIS)
  find_package(MPI QUIET COMPONENTS C)
  foreach(name IN LISTS TUTTI_MPIS)
    foreach(directory IN LISTS TUTTI_MPI_${name}_INCLUDE_DIRS)
      if(NOT TUTTI_MPI_PICKED AND directory IN_LIST MPI_C_INCLUDE_DIRS)
        set(TUTTI_MPI_PICKED ${name})
      endif()
    endforeach()
  endforeach()
  if(NOT TUTTI_MPI_PICKED)
    list(GET TUTTI_MPIS 0 TUTTI_MPI_PICKED)
  endif()
endif()
