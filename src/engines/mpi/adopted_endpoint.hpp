// SPDX-License-Identifier: Apache-2.0
//
// What adopt() (src/runtime/launch/mpi) stands on.
#pragma once

#include <memory>

#include <mpi.h>

#include "transport/endpoint.hpp"

namespace tutti {

/// Whether the program has started MPI so that several threads may call it at once.
bool mpi_has_concurrent_callers() noexcept;

/// A rank's door to the members of `comm`, which counts as the whole job: rank() is the rank in `comm`.
/// Collective over `comm`, of which it keeps duplicates only. Throws usage_error where MPI does not run or
/// `comm` is not a communicator within one group. Must go before MPI_Finalize, or after it has been called
/// lets go of nothing. `meanwhile`: what this rank progresses until the others have come. `plain_messages`:
/// the program's own messages travel on `comm` itself, which must live as long as they are sent and received.
std::unique_ptr<endpoint> make_mpi_endpoint(MPI_Comm comm, bool check_calls, rank_progress& meanwhile,
                                            bool plain_messages);

}  // namespace tutti
