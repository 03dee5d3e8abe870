// SPDX-License-Identifier: Apache-2.0
//
// The communicator of adopt(), without MPI. The code for MPI is in a static library. Where the rest
// is a shared library, these functions are all that it needs of it.
#pragma once

#include <functional>
#include <memory>

#include "transport/endpoint.hpp"
#include "transport/shm/shared_arena.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {

/// Makes the endpoint of the rank. `check_calls`: the job runs in checked mode.
using endpoint_maker = std::function<std::unique_ptr<endpoint>(bool check_calls, rank_progress& operations)>;

/// Makes the communicator of a rank that the program has started itself, over the endpoint that
/// `make` returns. Collective over the ranks of the endpoint. `concurrent_callers`: several threads
/// of this process may call at the same time.
TUTTI_API communicator_handle make_adopted_world(bool concurrent_callers, const endpoint_maker& make);

/// The arena of the library. The static library may have its own copy of src/transport/shm.
TUTTI_API shm::arena_state& arena_of_library() noexcept;

}  // namespace tutti::detail
