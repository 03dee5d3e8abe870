// SPDX-License-Identifier: Apache-2.0
//
// The work of a direct collective: each rank makes one slice of the result and lays it where it belongs.
#pragma once

#include "transport/shm/direct_collectives.hpp"

namespace tutti::shm {

/// This rank's share of the call, with all members' buffers readable and writable. Members have met before
/// and meet again after it; between the two, no two ranks write one place, and nobody writes what another
/// reads.
void work_slice(const direct_collectives::published_calls& all);

/// Whether work_slice knows the collective.
bool slices_know(collective what) noexcept;

}  // namespace tutti::shm
