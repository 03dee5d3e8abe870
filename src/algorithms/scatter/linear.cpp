// SPDX-License-Identifier: Apache-2.0
//
// scatter/linear, scatterv/linear
//
// The root sends every rank its block, a window of messages at a time.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        n - b
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scatter_linear {

void write(const shape& s, builder& b) {
  if (s.rank != s.root) {
    b.recv(s.root, whole(buffer::output));
    return;
  }
  const partition how = is_vector_form(s.what) ? partition::input_counts : partition::uniform;
  parts::in_windows(b, s.size - 1, 32, [&](int first, int step) {
    const index to = at(s.root + 1 + first, step, s.size);
    b.send(to, block(buffer::input, to, how));
  });
  if (!s.in_place) b.copy(block(buffer::input, s.root, how), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatter_linear
