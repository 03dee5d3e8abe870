# SPDX-License-Identifier: Apache-2.0
#
# Functions of the scripts that build programs against an installed tree (use_installed.cmake,
# ../lpf/consumer/use_installed_lpf.cmake).

# Runs a command that must succeed. Its output is in `output`.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${failed}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Asks pkg-config how to compile and link: sets `flags` and `link`. `link` is -static for
# pkg-config-static if there is a static library. Reads `kind`, `shared`, `prefix` and `libdir`.
# Afterwards programs find shared libraries.
function(ask_pkg_config package)
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
  must("${pkg_config}" ${how} --cflags --libs ${package})
  separate_arguments(flags UNIX_COMMAND "${output}")
  set(flags "${flags}" PARENT_SCOPE)
  set(link "${link}" PARENT_SCOPE)
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${libdir}:$ENV{LD_LIBRARY_PATH}")
endfunction()

file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")
