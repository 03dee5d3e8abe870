// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/in_place_pairwise, alltoallw/in_place_pairwise
//
// The ranks meet two at a time, as in a tournament, and exchange blocks. What comes stands in scratch, as
// long as the longest block, until what it replaces has left.
//
// Source:       folklore; MPICH
// Restrictions: in_place
// Rounds:       p < 2 ? 0 : 2 * ceil(p / 2) - 1
// Bytes:        n - b
// Scratch:      b
// Good for:     calls in place
#include "algorithms/parts/tournament.hpp"

namespace tutti::algorithms::alltoallv_in_place_pairwise {

void write(const shape& s, builder& b) { parts::exchange_in_place(s, b, table::out); }

}  // namespace tutti::algorithms::alltoallv_in_place_pairwise
