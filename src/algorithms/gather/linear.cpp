// SPDX-License-Identifier: Apache-2.0
//
// gather/linear, gatherv/linear
//
// Every rank sends its block directly to the root, which receives a window of blocks at a time,
// each in its final position.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        n - b
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::gather_linear {

void write(const shape& s, builder& b) {
  if (s.rank != s.root) {
    b.send(s.root, whole(buffer::input));
    return;
  }
  const partition how = result_partition(s);
  parts::in_windows(b, s.size - 1, 32, [&](int first, int step) {
    const index from = at(s.root + 1 + first, step, s.size);
    b.recv(from, block(buffer::output, from, how));
  });
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.root, how));
}

}  // namespace tutti::algorithms::gather_linear
