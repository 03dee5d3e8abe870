// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/two_phase_bruck, alltoallw/two_phase_bruck
//
// As in Bruck's alltoall, for each bit of the distance, all blocks with this bit travel in one
// message. Another message before it contains their lengths, so that no block is padded on the way.
//
// Source:       Fan et al. 2022 (HPDC)
// Restrictions: not_in_place
// Reach:        hops around
// Rounds:       p <= 3 ? p - 1 : 3 * ceil(log2(p)) - (p == pof2 + 1 ? 1 : 0)
// Bytes:        <= (b + word) * floor(p / 2) * ceil(log2(p)) + word * ceil(log2(p))
// Scratch:      p <= 3 ? 0 : b * (p + 2 * floor(p / 2))
// Good for:     small blocks of different lengths
#include "algorithms/parts/vector_bruck.hpp"

namespace tutti::algorithms::alltoallv_two_phase_bruck {

void write(const shape& s, builder& b) {
  parts::vector_bruck(s, b, 2, parts::vector_bruck::slot_format::lengths_in_own_message).write();
}

}  // namespace tutti::algorithms::alltoallv_two_phase_bruck
