// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/padded_bruck
//
// The ranks agree on the longest block and pad all blocks to that length. Then they travel as in
// Bruck's alltoall: for each bit of the distance, one message contains all blocks with this bit.
//
// Source:       Fan et al. 2022 (HPDC)
// Restrictions: not_in_place
// Reach:        hops around
// Rounds:       p <= 3 ? p - 1 : 2 * ceil(log2(p))
// Bytes:        <= b * floor(p / 2) * ceil(log2(p)) + word * ceil(log2(p))
// Scratch:      p <= 3 ? 0 : b * (p - 3 + 2 * floor(p / 2))
// Good for:     small blocks of similar length
#include "algorithms/parts/vector_bruck.hpp"

namespace tutti::algorithms::alltoallv_padded_bruck {

void write(const shape& s, builder& b) {
  parts::vector_bruck(s, b, 2, parts::vector_bruck::slot_format::padded).write();
}

}  // namespace tutti::algorithms::alltoallv_padded_bruck
