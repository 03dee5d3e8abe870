// SPDX-License-Identifier: Apache-2.0
//
// reduce/linear
//
// All ranks send their operands to the root, which combines them one after the other. Those of
// lower ranks become left operands, from its neighbor downwards; those of higher ranks become
// right operands, from its neighbor upwards. So the order is kept without scratch memory.
//
// Source:       folklore
// Rounds:       p - 1
// Bytes:        n * (p - 1)
// Scratch:      0
// Good for:     few ranks
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_linear {

void write(const shape& s, builder& b) {
  const int p = s.size, root = s.root;
  if (s.rank != root) {
    b.send(root, whole(buffer::input));
    return;
  }
  if (p == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const place out = whole(buffer::output);
  // All receives write to the same place, so each needs a separate round.
  if (root > 0) b.recv_reduce_left({root - 1}, whole(buffer::input), out);
  b.round();
  parts::in_windows(b, root - 1, 1,
                    [&](int i, int step) { b.recv_reduce_left(at(root - 2 - i, -step), out, out); });
  b.round();
  if (root == 0) b.recv_reduce_right({1}, whole(buffer::input), out);
  b.round();
  const int above = root == 0 ? 2 : root + 1;
  parts::in_windows(b, p - above, 1,
                    [&](int i, int step) { b.recv_reduce_right(at(above + i, step), out, out); });
}

}  // namespace tutti::algorithms::reduce_linear
