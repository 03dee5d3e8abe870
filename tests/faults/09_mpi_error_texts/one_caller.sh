#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# one_caller.sh ROOT: fails if any function other than mpi::error_text() calls MPI_Error_string.
# Only error_text() has a buffer that is large enough.
set -u
cd "$1" || exit 2
callers=$(grep -rlE 'P?MPI_Error_string *\(' src include tools bench)
if [ "$callers" != src/engines/mpi/error_text.hpp ]; then
  echo "FAILED: MPI_Error_string is called in:"
  echo "$callers"
  exit 1
fi
