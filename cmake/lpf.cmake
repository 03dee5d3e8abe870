# SPDX-License-Identifier: Apache-2.0
#
# Builds LPF's interface: a library over tutti, and one more for each MPI, for programs that start
# that MPI themselves.

# tutti_add_lpf(): Makes tutti::lpf, and, if there are engines for them, tutti::lpf_<mpi> and
# tutti::lpf_mpi. Sets lpf_libraries to the targets to install.
function(tutti_add_lpf)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/frontends/lpf/*.cpp")
  # How the library runs code before main() depends on whether it is linked statically. The heads of
  # the two files give the reasons.
  if(BUILD_SHARED_LIBS)
    list(FILTER sources EXCLUDE REGEX "/start_static\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "/start_shared\\.cpp$")
  endif()
  add_library(tutti_lpf ${sources})
  add_library(tutti::lpf ALIAS tutti_lpf)
  tutti_configure(tutti_lpf)
  target_compile_definitions(tutti_lpf PRIVATE TUTTI_LPF_LIBRARY)
  target_link_libraries(tutti_lpf PUBLIC tutti PRIVATE ${CMAKE_DL_LIBS})
  tutti_limit_exports(tutti_lpf)
  set_target_properties(tutti_lpf PROPERTIES EXPORT_NAME lpf VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(made tutti_lpf)

  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/frontends/lpf/mpi/*.cpp")
  foreach(mpi IN LISTS TUTTI_MPIS)
    if(TARGET tutti_mpi_${mpi})
      set(library tutti_lpf_${mpi})
      add_library(${library} STATIC ${sources})
      add_library(tutti::lpf_${mpi} ALIAS ${library})
      tutti_configure(${library})
      target_compile_definitions(${library} PRIVATE TUTTI_LPF_LIBRARY)
      target_link_libraries(${library} PUBLIC tutti_lpf tutti_mpi_${mpi})
      set_target_properties(${library} PROPERTIES EXPORT_NAME lpf_${mpi})
      list(APPEND made ${library})
    endif()
  endforeach()
  if(TARGET tutti_lpf_${TUTTI_MPI_PICKED})
    add_library(tutti_lpf_mpi INTERFACE)
    add_library(tutti::lpf_mpi ALIAS tutti_lpf_mpi)
    target_link_libraries(tutti_lpf_mpi INTERFACE tutti_lpf_${TUTTI_MPI_PICKED})
    set_target_properties(tutti_lpf_mpi PROPERTIES EXPORT_NAME lpf_mpi)
    list(APPEND made tutti_lpf_mpi)
  endif()
  set(lpf_libraries ${made} PARENT_SCOPE)
endfunction()
