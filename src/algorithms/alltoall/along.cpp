// SPDX-License-Identifier: Apache-2.0
//
// alltoall/along
//
// A rank sends all blocks for one side as one message to its neighbor there. Each rank takes its
// own block out of a message and forwards the others, in both directions at once. Messages pass
// through two scratch buffers: one is sent while the next is received.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p < 3 ? p - 1 : p + ceil(p / 2) - 1
// Bytes:        b * (ceil(p * p / 2) - 1)
// Scratch:      p < 2 ? 0 : 2 * b * (p + 1)
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::alltoall_along {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, left = r, right = p - 1 - r;  // number of ranks on each side
  if (!s.in_place) b.copy(block(buffer::input, r), block(buffer::output, r));
  b.round();
  // Bundle 0 is the own one. Bundle i from the left is that of rank r - i: blocks r ... p - 1, of
  // which the first stays here. Bundle i from the right is that of rank r + i: blocks 0 ... r, of
  // which the last stays here.
  const auto from_left = [&](int bundle, int first, int n) {
    return blocks(bundle % 2 == 0 ? buffer::scratch0 : buffer::scratch1, first, n);
  };
  const auto from_right = [&](int bundle, int first, int n) {
    return from_left(bundle, right + 1 + first, n);
  };
  for (int i = 1; i <= std::min(2, p - 1); ++i) b.scratch(from_left(i, 0, 0).where, p + 1);
  parts::in_stages(b, 2, {0, 1, left, left + 1, right, right + 1}, [&](int step, int by) {
    if (right > 0 && step <= left)
      b.send(r + 1, step == 0 ? blocks(buffer::input, r + 1, right) : from_left(step, 1, right));
    if (left > 0 && step <= right)
      b.send(r - 1, step == 0 ? blocks(buffer::input, 0, left) : from_right(step, 0, left));
    if (step < left) b.recv(r - 1, from_left(step + 1, 0, right + 1));
    if (step < right) b.recv(r + 1, from_right(step + 1, 0, left + 1));
    if (step < left) b.copy(from_left(step + 1, 0, 1), block(buffer::output, at(r - 1 - step, -by)));
    if (step < right) b.copy(from_right(step + 1, left, 1), block(buffer::output, at(r + 1 + step, by)));
  });
}

}  // namespace tutti::algorithms::alltoall_along
