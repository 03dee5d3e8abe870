// SPDX-License-Identifier: Apache-2.0
//
// allgather/linear
//
// Every rank sends its block to all others, the nearest first, a window of messages at a time.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        b * (p - 1)
// Scratch:      0
// Good for:     large blocks on few ranks: no message depends on another
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_linear {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const place own = s.in_place ? block(buffer::output, r) : whole(buffer::input);
  parts::in_windows(b, p - 1, 8, [&](int first, int step) {
    const index up = at(r + 1 + first, step, p), down = at(r - 1 - first, -step, p);
    b.exchange(up, own, down, block(buffer::output, down));
  });
  if (!s.in_place) b.copy(own, block(buffer::output, r));
}

}  // namespace tutti::algorithms::allgather_linear
