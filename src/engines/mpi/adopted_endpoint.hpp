// SPDX-License-Identifier: Apache-2.0
//
// The endpoint that adopt() (src/runtime/launch/mpi) uses.
#pragma once

#include <memory>

#include <mpi.h>

#include "transport/endpoint.hpp"

namespace tutti::detail {

/// Whether the program has started MPI with MPI_THREAD_MULTIPLE, so that several threads may call
/// it at once.
bool mpi_has_concurrent_callers() noexcept;

/// Makes an endpoint for the members of `comm`, which count as the whole job: rank() is the rank in
/// `comm`. Collective over `comm`; the endpoint keeps only duplicates of it. Throws usage_error if
/// MPI does not run or `comm` is not an intracommunicator. Destroy the endpoint before
/// MPI_Finalize; after it, the destructor releases nothing. This rank progresses `operations` until
/// the other ranks have arrived. `plain_messages`: the program's messages use `comm` itself, which
/// must exist as long as they are sent and received.
std::unique_ptr<endpoint> make_mpi_endpoint(MPI_Comm comm, bool check_calls, rank_progress& operations,
                                            bool plain_messages);

}  // namespace tutti::detail
