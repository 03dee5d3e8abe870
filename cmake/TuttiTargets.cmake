# SPDX-License-Identifier: Apache-2.0
#
# Functions and macros that the CMakeLists.txt files of this project share.

# Sets the language level, include directories and warnings of a target that is compiled from src/.
function(tutti_configure target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE "${PROJECT_SOURCE_DIR}/src")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  if(NOT TUTTI_EXPORT_INTERNALS)
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()

# Keeps everything out of the exported symbols of a shared library that is no name of this project.
# The C++ library's templates have default visibility, wherever they are instantiated.
function(tutti_limit_exports target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" OR TUTTI_SANITIZE)
    return()
  endif()
  target_link_options(${target} PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")
endfunction()

# Calls find_package(). If the package is missing, the error names its Debian package.
macro(tutti_require package debian)
  find_package(${package} QUIET CONFIG)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found: install ${debian}, or build the library alone with "
      "-DTUTTI_BUILD_TESTS=OFF -DTUTTI_BUILD_BENCH=OFF -DTUTTI_BUILD_EXAMPLES=OFF -DTUTTI_BUILD_TOOLS=OFF")
  endif()
endmacro()

# Finds hwloc, with which the mpi engine groups ranks by caches and sockets. Sets
# TUTTI_HWLOC_LIBRARIES and TUTTI_HWLOC_INCLUDE_DIRS; both are empty if there is none.
macro(tutti_find_hwloc)
  set(TUTTI_HWLOC_LIBRARIES "")
  set(TUTTI_HWLOC_INCLUDE_DIRS "")
  find_path(TUTTI_HWLOC_HEADER hwloc.h)
  find_library(TUTTI_HWLOC_LIBRARY hwloc)
  mark_as_advanced(TUTTI_HWLOC_HEADER TUTTI_HWLOC_LIBRARY)
  if(TUTTI_HWLOC_HEADER AND TUTTI_HWLOC_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES "${TUTTI_HWLOC_HEADER}")
    check_cxx_source_compiles("#include <hwloc.h>
      static_assert(HWLOC_API_VERSION >= 0x00020100);
      int main() {}" TUTTI_HWLOC_IS_2_1)
    unset(CMAKE_REQUIRED_INCLUDES)
    if(TUTTI_HWLOC_IS_2_1)
      set(TUTTI_HWLOC_LIBRARIES "${TUTTI_HWLOC_LIBRARY}")
      set(TUTTI_HWLOC_INCLUDE_DIRS "${TUTTI_HWLOC_HEADER}")
    endif()
  endif()
  if(NOT TUTTI_HWLOC_LIBRARIES)
    message(STATUS "tutti: no hwloc 2.1 (libhwloc-dev): bound ranks form no levels inside of a node")
  endif()
endmacro()

# Finds Boost.Context. A static tutti prefers the static library, so that an installed program needs
# no Boost. A shared tutti uses the shared library, because Debian's static library is not entirely
# position-independent code. Sets TUTTI_BOOST_STATIC.
macro(tutti_find_boost_context)
  if(NOT DEFINED Boost_USE_STATIC_LIBS AND NOT BUILD_SHARED_LIBS)
    set(Boost_USE_STATIC_LIBS ON)
    find_package(Boost QUIET COMPONENTS context)
    if(NOT TARGET Boost::context)
      set(Boost_USE_STATIC_LIBS OFF)
    endif()
  endif()
  if(NOT TARGET Boost::context)
    find_package(Boost QUIET COMPONENTS context)
  endif()
  if(NOT TARGET Boost::context)
    message(FATAL_ERROR "Boost.Context was not found: install libboost-context-dev")
  endif()
  set(TUTTI_BOOST_STATIC ${Boost_USE_STATIC_LIBS})
endmacro()

# Finds the parser for the files of decision trees. Programs that use tutti do not need it.
macro(tutti_find_json)
  find_package(nlohmann_json QUIET CONFIG)
  if(NOT nlohmann_json_FOUND)
    message(FATAL_ERROR "nlohmann_json was not found: install nlohmann-json3-dev")
  endif()
endmacro()

# Generates the catalogue of all algorithms or compositions of some folders. The build generates it
# again when the head of a file changes. The catalogue refers to each of them, so that no linker can
# drop one from a static library.
function(tutti_generate_catalogue kind folders output)
  set(files "")
  foreach(folder IN LISTS folders)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${folder}/${kind}/*.cpp")
    list(APPEND files ${found})
  endforeach()
  # A file that appears or disappears may have any date. So the catalogue also depends on the list
  # of files, which is written only if it changes.
  file(CONFIGURE OUTPUT "${output}.files" CONTENT "@files@")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-Dkind=${kind}" "-Dfolders=${folders}" "-Doutput=${output}"
      -P "${PROJECT_SOURCE_DIR}/cmake/catalogue.cmake"
    DEPENDS ${files} "${output}.files" "${PROJECT_SOURCE_DIR}/cmake/catalogue.cmake" "${PROJECT_SOURCE_DIR}/include/tutti/collective.hpp"
      "${PROJECT_SOURCE_DIR}/src/schedule/algorithm.hpp" "${PROJECT_SOURCE_DIR}/src/schedule/shape.hpp"
    COMMENT "Reading the heads of all ${kind}" VERBATIM)
endfunction()

# Finds LAPACK for programs that use dense kernels on tiles: OpenBLAS unless BLA_VENDOR names
# another one. Sets TUTTI_LAPACK to ON or OFF. If it is OFF, a status message reports that `what` is
# left out.
macro(tutti_find_lapack what)
  if(NOT DEFINED BLA_VENDOR)
    set(BLA_VENDOR OpenBLAS)
    find_package(LAPACK QUIET)
    unset(BLA_VENDOR)
  else()
    find_package(LAPACK QUIET)
  endif()
  set(TUTTI_LAPACK OFF)
  if(TARGET LAPACK::LAPACK)
    set(TUTTI_LAPACK ON)
  else()
    message(STATUS "No LAPACK was found: ${what} is left out (install libopenblas-dev)")
  endif()
endmacro()

# Completes a library of the objects of src/. Adds the tables (catalogues, engines, trees,
# machines), link libraries, and the algorithms, compositions and engines of further folders. Its
# property TUTTI_ENGINES lists its engines' folders. Usage: tutti_complete(target [folder ...])
function(tutti_complete target)
  tutti_configure(${target})
  target_link_libraries(${target} PUBLIC Threads::Threads PRIVATE ${CMAKE_DL_LIBS} Boost::context)
  set(further "")
  foreach(folder IN LISTS ARGN)
    get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
    if(NOT IS_DIRECTORY "${folder}/algorithms" AND NOT IS_DIRECTORY "${folder}/compositions" AND NOT IS_DIRECTORY "${folder}/engines")
      message(FATAL_ERROR "${folder} has no folder algorithms/, compositions/ or engines/")
    endif()
    list(APPEND further "${folder}")
  endforeach()
  set(folders "${PROJECT_SOURCE_DIR}/src" ${further})
  foreach(kind IN ITEMS algorithms compositions)
    set(catalogue "${PROJECT_BINARY_DIR}/generated/${target}/${kind}.cpp")
    tutti_generate_catalogue(${kind} "${folders}" "${catalogue}")
    target_sources(${target} PRIVATE "${catalogue}")
    foreach(folder IN LISTS further)
      file(GLOB_RECURSE files CONFIGURE_DEPENDS "${folder}/${kind}/*.cpp")
      target_sources(${target} PRIVATE ${files})
    endforeach()
  endforeach()
  set(generated "${PROJECT_BINARY_DIR}/generated/${target}")
  list(TRANSFORM folders APPEND /engines OUTPUT_VARIABLE engines)
  tutti_generate_engines(engines "${generated}/engines.cpp" ${engines})
  list(TRANSFORM engines REPLACE ".*/" "" OUTPUT_VARIABLE names)
  tutti_generate_trees("${PROJECT_SOURCE_DIR}/trees" "${names}" "${generated}/trees.cpp")
  tutti_generate_machines("${PROJECT_SOURCE_DIR}/machines" "${generated}/machines.cpp")
  target_sources(${target} PRIVATE "${generated}/engines.cpp" "${generated}/trees.cpp" "${generated}/machines.cpp")
  if(NOT target STREQUAL "write_tree_images")
    set_source_files_properties("${PROJECT_BINARY_DIR}/generated/tree_images.cpp" PROPERTIES GENERATED ON)
    target_sources(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated/tree_images.cpp")
    add_dependencies(${target} tree_images)
  endif()
  foreach(folder IN LISTS further)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${folder}/engines/*.cpp")
    target_sources(${target} PRIVATE ${files})
  endforeach()
  set_property(TARGET ${target} PROPERTY TUTTI_ENGINES ${engines})
  target_include_directories(${target} PRIVATE ${further})
endfunction()

# Builds the engine of one MPI twice. The first is a self-contained module that the core loads. The
# second is a static library for programs that link this MPI themselves. Both share most sources,
# which are compiled once. Only the library has `library_sources`, and only the module has
# module.cpp.
function(tutti_add_mpi_engine mpi sources library_sources core_objects)
  set(definitions TUTTI_MPI_NAME="${mpi}" OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  set(shared tutti_mpi_${mpi}_objects)
  set(module_source "${sources}")
  list(FILTER module_source INCLUDE REGEX "/module\\.cpp$")
  list(REMOVE_ITEM sources ${module_source})
  add_library(${shared} OBJECT ${sources})
  tutti_unite(${shared})
  tutti_configure(${shared})
  target_compile_options(${shared} PRIVATE -fno-plt)  # one jump less in each call of MPI
  target_compile_definitions(${shared} PRIVATE ${definitions})
  target_include_directories(${shared} SYSTEM PRIVATE ${TUTTI_MPI_${mpi}_INCLUDE_DIRS} ${TUTTI_HWLOC_INCLUDE_DIRS})
  if(TUTTI_HWLOC_LIBRARIES)
    target_compile_definitions(${shared} PRIVATE TUTTI_HWLOC)
  endif()

  set(module tutti-mpi-${mpi})
  add_library(${module} MODULE ${module_source} $<TARGET_OBJECTS:${shared}> ${core_objects})
  add_dependencies(modules ${module})
  tutti_configure(${module})
  target_compile_definitions(${module} PRIVATE ${definitions})
  target_include_directories(${module} SYSTEM PRIVATE ${TUTTI_MPI_${mpi}_INCLUDE_DIRS})
  target_link_libraries(${module} PRIVATE ${TUTTI_MPI_${mpi}_LIBRARIES} ${TUTTI_HWLOC_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS})
  tutti_limit_exports(${module})
  # With Clang, the program provides the symbols of the sanitizers.
  if(NOT (TUTTI_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${module} PRIVATE -Wl,--no-undefined)
  endif()
  if(PROJECT_IS_TOP_LEVEL)
    set_target_properties(${module} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti")
  endif()
  # The module links no library of this project.
  set_target_properties(${module} PROPERTIES INSTALL_RPATH "")
  install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti)

  set(library tutti_mpi_${mpi})
  if(NOT BUILD_SHARED_LIBS OR TUTTI_EXPORT_INTERNALS)
    set(core_objects "")  # tutti has them; otherwise it does not export them
  endif()
  add_library(${library} STATIC ${library_sources} $<TARGET_OBJECTS:${shared}> ${core_objects})
  add_library(tutti::mpi_${mpi} ALIAS ${library})
  tutti_configure(${library})
  target_compile_definitions(${library}
    PRIVATE TUTTI_MPI_NAME="${mpi}"
    PUBLIC OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_include_directories(${library} SYSTEM PUBLIC ${TUTTI_MPI_${mpi}_INCLUDE_DIRS})
  target_link_libraries(${library} PUBLIC tutti ${TUTTI_MPI_${mpi}_LIBRARIES} PRIVATE ${TUTTI_HWLOC_LIBRARIES})
  set_target_properties(${library} PROPERTIES EXPORT_NAME mpi_${mpi})
endfunction()

# Builds the module that runs tasks on several threads with oneTBB, if oneTBB is found.
function(tutti_add_workers)
  find_package(TBB QUIET)
  if(NOT TARGET TBB::tbb)
    message(STATUS "tutti: no oneTBB (libtbb-dev): tasks run on one worker a rank")
    return()
  endif()
  add_library(tutti-workers MODULE src/frontends/tasks/tbb/tbb_worker_pool.cpp)
  add_dependencies(modules tutti-workers)
  tutti_configure(tutti-workers)
  target_link_libraries(tutti-workers PRIVATE TBB::tbb Threads::Threads)
  tutti_limit_exports(tutti-workers)
  if(PROJECT_IS_TOP_LEVEL)
    set_target_properties(tutti-workers PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti")
  endif()
  # The module links no library of this project.
  set_target_properties(tutti-workers PROPERTIES INSTALL_RPATH "")
  install(TARGETS tutti-workers LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti)
endfunction()

# If TUTTI_PRECOMPILE is set, compiles the files of each folder as one unit. The files of LEAVE_OUT
# are compiled alone, because other files of their folder use the same local names. Usage:
# tutti_unite(target LEAVE_OUT source ...)
function(tutti_unite target)
  if(NOT TUTTI_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LEAVE_OUT" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # In a unity build GCC treats local types as types of a header.
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "^\\$<" AND NOT source IN_LIST arg_LEAVE_OUT)
      get_filename_component(folder "${source}" DIRECTORY)
      string(MAKE_C_IDENTIFIER "${folder}" folder)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
    endif()
  endforeach()
endfunction()

# If TUTTI_PRECOMPILE is set, compiles headers once for many targets (<name>_headers). These targets
# have the same options, which the command <configure> sets on a target. Usage:
# tutti_precompiled(target name configure HEADERS header ...)
function(tutti_precompiled target name configure)
  if(NOT TUTTI_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "HEADERS" ${ARGN})
  if(NOT TARGET ${name}_headers)
    set(source "${PROJECT_BINARY_DIR}/generated/${name}_headers.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    add_library(${name}_headers OBJECT "${source}")
    target_compile_features(${name}_headers PRIVATE cxx_std_20)
    target_compile_options(${name}_headers PRIVATE -Wall -Wextra)
    set_target_properties(${name}_headers PROPERTIES CXX_EXTENSIONS OFF)
    cmake_language(CALL ${configure} ${name}_headers)
    target_precompile_headers(${name}_headers PRIVATE ${arg_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name}_headers)
endfunction()

# Configures programs with a command line and JSON. Most of their compile time goes to the headers
# of both. A daily build does not optimize them, because most of the run time is spent in the
# library.
function(tutti_command_line target)
  tutti_command_line_options(${target})
  tutti_precompiled(${target} command_line tutti_command_line_options
    HEADERS <CLI/CLI.hpp> <fmt/format.h> <nlohmann/json.hpp>)
endfunction()
function(tutti_command_line_options target)
  target_link_libraries(${target} PRIVATE Threads::Threads fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
endfunction()

# Adds a program <prefix><name><suffix> for each <name><ending>.cpp of the current directory, or of
# its subfolder DIRECTORY. Sources in a folder <name>/ belong to that program. Skips the programs of
# LEAVE_OUT. Sets <variable> to the list of programs, which is empty if there is no such file.
# Usage: tutti_programs(variable PREFIX prefix ENDING ending SUFFIX suffix DIRECTORY dir LIBRARIES
# ... LEAVE_OUT name ...)
function(tutti_programs variable)
  cmake_parse_arguments(arg "" "PREFIX;ENDING;SUFFIX;DIRECTORY" "LIBRARIES;LEAVE_OUT" ${ARGN})
  set(directory "${CMAKE_CURRENT_SOURCE_DIR}/${arg_DIRECTORY}")
  file(GLOB mains CONFIGURE_DEPENDS "${directory}/*${arg_ENDING}.cpp")
  set(programs "")
  foreach(main IN LISTS mains)
    get_filename_component(name "${main}" NAME_WE)
    if(arg_ENDING)
      string(REGEX REPLACE "${arg_ENDING}$" "" name "${name}")
    endif()
    if(name IN_LIST arg_LEAVE_OUT)
      continue()
    endif()
    file(GLOB parts CONFIGURE_DEPENDS "${directory}/${name}/*.cpp")
    set(program ${arg_PREFIX}${name}${arg_SUFFIX})
    add_executable(${program} "${main}" ${parts})
    target_link_libraries(${program} PRIVATE tutti::tutti ${arg_LIBRARIES})
    target_include_directories(${program} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_compile_options(${program} PRIVATE -Wall -Wextra ${program_optimization})
    set_target_properties(${program} PROPERTIES CXX_EXTENSIONS OFF)
    if(TARGET modules)
      # So that `mpirun ./program` works as soon as it is built.
      add_dependencies(${program} modules)
    endif()
    list(APPEND programs ${program})
  endforeach()
  set(${variable} ${programs} PARENT_SCOPE)
endfunction()

# Installs tutti.pc, tutti-lpf.pc, and a tutti-lpf-mpi-<mpi>.pc for each MPI that lpf/mpi.h is built
# for. The files remain valid if the installed tree moves.
function(tutti_install_pkgconfig)
  file(RELATIVE_PATH pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
  set(needs "-lboost_context -pthread")
  foreach(library IN LISTS CMAKE_DL_LIBS)
    string(APPEND needs " -l${library}")
  endforeach()
  # If only libtutti.a is installed, every link is static. So its dependencies are not private.
  if(BUILD_SHARED_LIBS)
    set(pc_libs "")
    set(pc_libs_private "${needs}")
  else()
    set(pc_libs "${needs}")
    set(pc_libs_private "")
  endif()
  configure_file(cmake/tutti.pc.in "${PROJECT_BINARY_DIR}/tutti.pc" @ONLY)
  # Programs that link tutti-lpf may be C programs. The libraries that a C++ compiler links
  # implicitly must come last, which `Requires: tutti` cannot express.
  set(cxx_libraries "${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES}")
  list(FILTER cxx_libraries INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
  list(TRANSFORM cxx_libraries PREPEND "-l")
  list(JOIN cxx_libraries " " cxx_libraries)
  if(BUILD_SHARED_LIBS)
    set(pc_lpf_libs "")
    set(pc_lpf_libs_private "${cxx_libraries}")
  else()
    set(pc_lpf_libs "${cxx_libraries}")
    set(pc_lpf_libs_private "")
  endif()
  configure_file(cmake/tutti-lpf.pc.in "${PROJECT_BINARY_DIR}/tutti-lpf.pc" @ONLY)
  set(files "${PROJECT_BINARY_DIR}/tutti.pc" "${PROJECT_BINARY_DIR}/tutti-lpf.pc")
  # The libraries of lpf/mpi.h are static even if the others are shared, and they are C++.
  foreach(mpi IN LISTS TUTTI_MPIS)
    if(TARGET tutti_lpf_${mpi})
      list(TRANSFORM TUTTI_MPI_${mpi}_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE pc_mpi_includes)
      list(JOIN pc_mpi_includes " " pc_mpi_includes)
      list(JOIN TUTTI_MPI_${mpi}_LIBRARIES " " pc_mpi_libraries)
      list(APPEND pc_mpi_libraries ${TUTTI_HWLOC_LIBRARIES})
      list(JOIN pc_mpi_libraries " " pc_mpi_libraries)
      configure_file(cmake/tutti-lpf-mpi.pc.in "${PROJECT_BINARY_DIR}/tutti-lpf-mpi-${mpi}.pc" @ONLY)
      list(APPEND files "${PROJECT_BINARY_DIR}/tutti-lpf-mpi-${mpi}.pc")
    endif()
  endforeach()
  install(FILES ${files} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
