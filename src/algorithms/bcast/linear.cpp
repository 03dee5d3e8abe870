// SPDX-License-Identifier: Apache-2.0
//
// bcast/linear
//
// The root sends the vector to all others, a window of messages at a time.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        n * (p - 1)
// Scratch:      0
// Good for:     few ranks, or a root that arrives last
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::bcast_linear {

void write(const shape& s, builder& b) {
  if (s.rank != s.root) {
    b.recv(s.root, whole(buffer::output));
    return;
  }
  parts::in_windows(b, s.size - 1, parts::default_window, [&](int i, int step) {
    b.send(parts::around(s.root + 1, 1, i, step, s.size), whole(buffer::input));
  });
}

}  // namespace tutti::algorithms::bcast_linear
