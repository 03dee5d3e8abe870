// SPDX-License-Identifier: Apache-2.0
//
// The work of a direct collective: each rank makes one slice of the result and writes it to its
// destinations.
#pragma once

#include "transport/shm/direct_collectives.hpp"

namespace tutti::shm {

/// Does this rank's share of the call, with all members' buffers readable and writable. All members
/// pass a barrier before it and after it. In between, no two ranks write the same bytes, and no
/// rank writes what another reads.
void work_slice(const direct_collectives::published_calls& all);

/// Whether work_slice() implements the collective.
bool slices_implement(collective what) noexcept;

}  // namespace tutti::shm
