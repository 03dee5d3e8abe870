// SPDX-License-Identifier: Apache-2.0
//
// gatherv/linear
//
// Every rank sends its block straight to the root, which receives a window of them at a time, each where it
// belongs.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        b
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::gatherv_linear {

void write(const shape& s, builder& b) {
  if (s.rank != s.root) {
    b.send(s.root, whole(buffer::input));
    return;
  }
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.root, table::out));
  b.round();
  constexpr int window = 32;
  for (int first = 0; first < s.size; first += window) {
    for (int r = first; r < s.size && r < first + window; ++r)
      if (r != s.root) b.recv(r, block(buffer::output, r, table::out));
    b.round();
  }
}

}  // namespace tutti::algorithms::gatherv_linear
