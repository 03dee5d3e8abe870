# SPDX-License-Identifier: Apache-2.0
#
# Finds every MPI of this machine. CMake's own FindMPI finds only one. An MPI is found by its
# compiler wrapper: first mpicc.openmpi and mpicc.mpich (Debian's names), then a plain mpicc.
#
#   TUTTI_MPIS                      names of the MPIs found: openmpi, mpich
#   TUTTI_MPI_PICKED                the one that CMake's FindMPI picks, else the first
#   TUTTI_MPI_<name>_INCLUDE_DIRS   the folders with its mpi.h
#   TUTTI_MPI_<name>_LIBRARIES      its C library, by path, without its C++ bindings
#   TUTTI_MPI_<name>_LAUNCHER       its mpirun; empty if there is none
#   TUTTI_MPI_<name>_LAUNCHER_FLAGS flags that allow more ranks than cores, and root as user
#   TUTTI_MPI_<name>_ENVIRONMENT    environment variables for the same purpose

set(TUTTI_MPIS "")
set(TUTTI_MPI_PICKED "")
set(TUTTI_MPI_openmpi_LAUNCHER_FLAGS --oversubscribe --allow-run-as-root)
set(TUTTI_MPI_openmpi_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
set(TUTTI_MPI_mpich_LAUNCHER_FLAGS "")
set(TUTTI_MPI_mpich_ENVIRONMENT "")

# Queries a compiler wrapper for its command line and finds out which MPI it belongs to. Sets
# <prefix>_line and <prefix>_name; both are empty if the wrapper fails.
function(tutti_query_mpi_wrapper wrapper prefix)
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

# Extracts include directories and libraries from the wrapper's command line.
function(tutti_register_mpi name wrapper line)
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
      continue()  # bindings for C++, and libraries that every program links
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
    tutti_query_mpi_wrapper("${TUTTI_MPI_WRAPPER_${id}}" wrapper)
    if(wrapper_name AND NOT wrapper_name IN_LIST TUTTI_MPIS)
      tutti_register_mpi(${wrapper_name} "${TUTTI_MPI_WRAPPER_${id}}" "${wrapper_line}")
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
