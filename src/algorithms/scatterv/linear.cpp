// SPDX-License-Identifier: Apache-2.0
//
// scatterv/linear
//
// The root sends every rank its block, a window of them at a time.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        n - b
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scatterv_linear {

void write(const shape& s, builder& b) {
  if (s.rank != s.root) {
    b.recv(s.root, whole(buffer::output));
    return;
  }
  constexpr int window = 32;
  for (int first = 0; first < s.size; first += window) {
    for (int r = first; r < s.size && r < first + window; ++r)
      if (r != s.root) b.send(r, block(buffer::input, r, table::in));
    b.round();
  }
  if (!s.in_place) b.copy(block(buffer::input, s.root, table::in), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatterv_linear
