// SPDX-License-Identifier: Apache-2.0
//
// Every call to MPI goes through check(). The engine's communicators return errors. check() throws
// an engine_error with MPI's text.
#pragma once

#include <mpi.h>

namespace tutti::mpi {

[[noreturn]] void throw_mpi_error(int code, const char* operation, int rank);

inline void check(int code, const char* operation, int rank) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_mpi_error(code, operation, rank);
}

/// True for the error of a message that is longer than its buffer.
bool is_truncation(int code) noexcept;

}  // namespace tutti::mpi
