// SPDX-License-Identifier: Apache-2.0
//
// Adopted communicators for programs of this folder, and the endpoint behind them.
#pragma once

#include <mpi.h>

#include "communicator/internal_calls.hpp"
#include "mpi_program.hpp"
#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

namespace tests {

inline tutti::mpi::mpi_endpoint& endpoint_of(tutti::communicator& c) {
  return dynamic_cast<tutti::mpi::mpi_endpoint&>(tutti::detail::endpoint_of(tutti::detail::impl_of(c)));
}

/// For programs that call tutti only, as a program of run() does: messages use memory too.
inline tutti::communicator adopt_for_memory() {
  tutti::communicator made = tutti::adopt(MPI_COMM_WORLD);
  endpoint_of(made).leave_p2p_to_mpi(false);
  return made;
}

}  // namespace tests
