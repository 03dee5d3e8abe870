# SPDX-License-Identifier: Apache-2.0
#
# The data that the library contains: the built-in trees, as text and as images, and the machine
# files.

# Generates a source file with the built-in decision trees: the files of a folder and of its peers/,
# and one entry for each engine.
function(tutti_generate_trees folder engines output)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.json" "${folder}/peers/*.json")
  file(CONFIGURE OUTPUT "${output}.files" CONTENT "@files@")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-Dfolder=${folder}" "-Dengines=${engines}" "-Doutput=${output}"
      -P "${PROJECT_SOURCE_DIR}/cmake/trees.cmake"
    DEPENDS ${files} "${output}.files" "${PROJECT_SOURCE_DIR}/cmake/trees.cmake"
    COMMENT "Embedding the built-in trees" VERBATIM)
endfunction()

# Makes the target tree_images, which generates generated/tree_images.cpp: the built-in trees as the
# library reads them (src/selection/tree_image.hpp). Where the build cannot run its own programs,
# the library reads their texts.
function(tutti_generate_tree_images core_objects)
  set(output "${PROJECT_BINARY_DIR}/generated/tree_images.cpp")
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    file(CONFIGURE OUTPUT "${output}" CONTENT "#include \"selection/tree_image.hpp\"
std::string_view tutti::detail::builtin_image(std::string_view) noexcept { return {}; }
")
    add_custom_target(tree_images)
    return()
  endif()
  add_executable(write_tree_images "${PROJECT_SOURCE_DIR}/tools/tree_images/write_tree_images.cpp"
    $<TARGET_OBJECTS:tutti_objects> ${core_objects})
  tutti_complete(write_tree_images)
  add_custom_command(OUTPUT "${output}" COMMAND write_tree_images "${output}" DEPENDS write_tree_images
    COMMENT "Writing the images of the built-in trees" VERBATIM)
  add_custom_target(tree_images DEPENDS "${output}")
endfunction()

# Generates a source file with the machine files of a folder.
function(tutti_generate_machines folder output)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.json")
  file(CONFIGURE OUTPUT "${output}.files" CONTENT "@files@")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-Dfolder=${folder}" "-Doutput=${output}" -P "${PROJECT_SOURCE_DIR}/cmake/machines.cmake"
    DEPENDS ${files} "${output}.files" "${PROJECT_SOURCE_DIR}/cmake/machines.cmake"
    COMMENT "Embedding the machine files" VERBATIM)
endfunction()
