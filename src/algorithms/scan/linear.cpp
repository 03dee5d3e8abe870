// SPDX-License-Identifier: Apache-2.0
//
// scan/linear
//
// A chain along the ranks: each rank combines what arrives from the rank below on the left of its
// operand and forwards the result.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p - 1
// Bytes:        p > 1 ? n : 0
// Scratch:      0
// Good for:     few ranks, or ranks that arrive one after the other
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scan_linear {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (r > 0) {
    b.recv_reduce_left({r - 1}, whole(buffer::input), whole(buffer::output));
    b.round();
  }
  if (r + 1 < p) b.send(r + 1, whole(r == 0 ? buffer::input : buffer::output));
  if (r == 0 && !s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
}

}  // namespace tutti::algorithms::scan_linear
