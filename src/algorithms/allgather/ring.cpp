// SPDX-License-Identifier: Apache-2.0
//
// allgather/ring, allgatherv/ring
//
// Blocks travel around the ring: in each of p - 1 steps a rank forwards the block that it received
// in the step before.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Reach:        neighbors around
// Rounds:       p - 1
// Bytes:        n - b
// Scratch:      0
// Good for:     large blocks; only neighbors communicate
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_ring {

void write(const shape& s, builder& b) {
  const partition how = result_partition(s);
  const int p = s.size, r = s.rank, up = (r + 1) % p, down = (r + p - 1) % p;
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r, how));
  b.round();
  b.loop(p - 1, [&] {
    b.exchange(up, block(buffer::output, at(r, -1, p), how), down,
               block(buffer::output, at(r - 1, -1, p), how));
  });
}

}  // namespace tutti::algorithms::allgather_ring
