// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/in_place_pairwise, alltoallw/in_place_pairwise
//
// The ranks exchange blocks in pairs, as in a round-robin tournament. A received block waits in
// scratch memory, which is as long as the longest block, until the block that it replaces has been
// sent.
//
// Source:       folklore; MPICH
// Restrictions: in_place
// Rounds:       p < 2 ? 0 : 2 * ceil(p / 2) - 1
// Bytes:        n - b
// Scratch:      b
// Good for:     calls in place
#include "algorithms/parts/tournament.hpp"

namespace tutti::algorithms::alltoallv_in_place_pairwise {

void write(const shape& s, builder& b) { parts::exchange_in_place(s, b, partition::output_counts); }

}  // namespace tutti::algorithms::alltoallv_in_place_pairwise
