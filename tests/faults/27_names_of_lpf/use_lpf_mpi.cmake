# SPDX-License-Identifier: Apache-2.0
#
# Builds a C program that includes lpf/mpi.h with tutti-lpf-mpi-<mpi>.pc, and runs it under that
# MPI.
include("${CMAKE_CURRENT_LIST_DIR}/../../consumer/steps.cmake")
set(kind pkg-config)
ask_pkg_config(tutti-lpf-mpi-${mpi})
must("${c_compiler}" -std=c99 -Wall -Wextra "${CMAKE_CURRENT_LIST_DIR}/hooked.c" -o "${work}/hooked" ${flags})
must(${launcher} -n 2 "${work}/hooked")
if(NOT output MATCHES "2 processes")
  message(FATAL_ERROR "expected 2 processes, got: ${output}")
endif()
