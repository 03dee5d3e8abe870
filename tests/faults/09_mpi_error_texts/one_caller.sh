#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# one_caller.sh ROOT: fails when MPI_Error_string is called elsewhere than by mpi::error_text(), whose buffer is large
# enough for it.
set -u
cd "$1" || exit 2
callers=$(grep -rlE 'P?MPI_Error_string *\(' src include tools bench)
if [ "$callers" != src/engines/mpi/error_text.hpp ]; then
  echo "FAILED: MPI_Error_string is called in:"
  echo "$callers"
  exit 1
fi
