// SPDX-License-Identifier: Apache-2.0
//
// Every call to MPI goes through check(): the engine's communicators return their errors, and an error that
// MPI returns becomes an engine_error with MPI's own text.
#pragma once

#include <mpi.h>

namespace tutti::mpi {

[[noreturn]] void throw_mpi_error(int code, const char* operation, int rank);

inline void check(int code, const char* operation, int rank) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_mpi_error(code, operation, rank);
}

/// True where the error is that of a message longer than the place for it.
bool is_truncation(int code) noexcept;

}  // namespace tutti::mpi
