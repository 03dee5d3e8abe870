// SPDX-License-Identifier: Apache-2.0
//
// Implements adopt(): a communicator of tutti over an MPI communicator, in a program that links MPI
// itself.
#include "engines/mpi/adopted_endpoint.hpp"
#include "runtime/launch/adopted_world.hpp"
#include "tutti/mpi.hpp"

namespace tutti {

communicator adopt(MPI_Comm comm, messages_on messages) {
  const auto make = [&](bool check_calls, detail::rank_progress& operations) {
    return detail::make_mpi_endpoint(comm, check_calls, operations, messages == messages_on::original);
  };
  shm::shared_arena::use(detail::arena_of_library());
  return communicator(detail::make_adopted_world(detail::mpi_has_concurrent_callers(), make));
}

}  // namespace tutti
