// SPDX-License-Identifier: Apache-2.0
//
// alltoall/pairwise
//
// In step i a rank sends to the rank i above it and receives from the rank i below it. In each of
// the p - 1 steps every rank has one partner in each direction.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005
// Restrictions: not_in_place
// Rounds:       p - 1
// Bytes:        b * (p - 1)
// Scratch:      0
// Good for:     large blocks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoall_pairwise {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  b.copy(block(buffer::input, r), block(buffer::output, r));
  b.round();
  b.loop(p - 1, [&] {
    const index up = at(r + 1, 1, p), down = at(r - 1, -1, p);
    b.exchange(up, block(buffer::input, up), down, block(buffer::output, down));
  });
}

}  // namespace tutti::algorithms::alltoall_pairwise
