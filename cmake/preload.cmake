# SPDX-License-Identifier: Apache-2.0
#
# Builds the library that interposes tutti before an MPI (LD_PRELOAD), for programs that do not know
# tutti. It contains the engine and all of tutti, and exports only MPI's own names.

include(CheckLinkerFlag)

# tutti_add_heap(): makes tutti-heap, in the same folder: the functions for memory of the C library
# (src/frontends/preload/heap). Only programs that request it load it, and it needs no MPI.
function(tutti_add_heap)
  set(shm "${PROJECT_SOURCE_DIR}/src/transport/shm")
  add_library(tutti-heap MODULE "${PROJECT_SOURCE_DIR}/src/frontends/preload/heap/shared_heap.cpp"
    "${shm}/shared_arena.cpp" "${shm}/best_fit.cpp" "${shm}/segment_file.cpp")
  add_dependencies(modules tutti-heap)
  tutti_configure(tutti-heap)
  set_target_properties(tutti-heap PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # The compiler must not replace the body of such a function by a call of the same function.
  target_compile_options(tutti-heap PRIVATE -fno-builtin)
  target_link_libraries(tutti-heap PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # Its handlers of fork() are the first ones, so that those of other libraries may allocate memory.
  target_link_options(tutti-heap PRIVATE -Wl,-z,initfirst "-Wl,--version-script=${PROJECT_SOURCE_DIR}/src/frontends/preload/heap/heap_exports.map")
  set_property(TARGET tutti-heap APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/src/frontends/preload/heap/heap_exports.map")
  set_target_properties(tutti-heap PROPERTIES INSTALL_RPATH "")
  if(PROJECT_IS_TOP_LEVEL)
    set_target_properties(tutti-heap PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti")
  endif()
  install(TARGETS tutti-heap LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti)
endfunction()

# tutti_add_preload(mpi): makes tutti-preload-<mpi>, in the folder of the engine's module.
function(tutti_add_preload mpi)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/frontends/preload/*.cpp")
  # The names below are read from these files.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  # The names that these functions interpose. The engine's own calls bypass them.
  file(STRINGS "${PROJECT_SOURCE_DIR}/src/frontends/preload/engine_calls.cpp" lines REGEX "^int tutti_internal_MPI_[A-Za-z_]+\\(")
  list(TRANSFORM lines REPLACE "^int tutti_internal_(MPI_[A-Za-z_]+)\\(.*" "\\1")
  list(REMOVE_DUPLICATES lines)
  set(renamed "")
  foreach(name IN LISTS lines)
    string(APPEND renamed "${name} tutti_internal_${name}\n")
  endforeach()
  set(folder "${PROJECT_BINARY_DIR}/generated/preload-${mpi}")
  file(CONFIGURE OUTPUT "${folder}/renamed" CONTENT "${renamed}")

  # The engine, linked into one object, with its calls renamed.
  set(engine "${folder}/engine.o")
  add_custom_command(OUTPUT "${engine}"
    COMMAND "${CMAKE_LINKER}" -r -o "${engine}" $<TARGET_OBJECTS:tutti_mpi_${mpi}_objects>
    COMMAND "${CMAKE_OBJCOPY}" "--redefine-syms=${folder}/renamed" "${engine}"
    DEPENDS $<TARGET_OBJECTS:tutti_mpi_${mpi}_objects> "${folder}/renamed"
    COMMAND_EXPAND_LISTS VERBATIM COMMENT "Renaming the calls of the engine to ${mpi}")

  set(library tutti-preload-${mpi})
  add_library(${library} MODULE ${sources} "${engine}")
  tutti_unite(${library} LEAVE_OUT "${PROJECT_SOURCE_DIR}/src/frontends/preload/translated_reduction.cpp")
  add_dependencies(modules ${library})
  tutti_configure(${library})
  # The version script decides what is exported.
  set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET default)
  target_compile_definitions(${library} PRIVATE TUTTI_MPI_NAME="${mpi}" OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_include_directories(${library} SYSTEM PRIVATE ${TUTTI_MPI_${mpi}_INCLUDE_DIRS})
  target_include_directories(${library} SYSTEM PRIVATE $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${library} PRIVATE tutti_whole ${TUTTI_MPI_${mpi}_LIBRARIES} ${TUTTI_HWLOC_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${library} PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/src/frontends/preload/preload_exports.map")
  # Many programs of MPI do not load the library of C++, which takes half of the time of loading
  # this one. If Boost.Context is a shared library, it loads the library of C++ anyway.
  check_linker_flag(CXX -static-libstdc++ TUTTI_HAS_STATIC_LIBSTDCXX)
  if(TUTTI_HAS_STATIC_LIBSTDCXX AND NOT BUILD_SHARED_LIBS)
    target_link_options(${library} PRIVATE -static-libstdc++)
  endif()
  # Some of the MPIs' entry points for Fortran call MPI_X, others call PMPI_X.
  set(names "")
  foreach(source IN LISTS sources)
    file(STRINGS "${source}" lines REGEX "^int MPI_[A-Za-z_]+\\(")
    list(TRANSFORM lines REPLACE "^int (MPI_[A-Za-z_]+)\\(.*" "\\1")
    list(APPEND names ${lines})
  endforeach()
  foreach(name IN LISTS names)
    target_link_options(${library} PRIVATE "-Wl,--defsym=P${name}=${name}")
  endforeach()
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/src/frontends/preload/preload_exports.map")
  if(PROJECT_IS_TOP_LEVEL)
    set_target_properties(${library} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti")
  endif()
  install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti)
endfunction()
