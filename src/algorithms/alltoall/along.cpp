// SPDX-License-Identifier: Apache-2.0
//
// alltoall/along
//
// The blocks of a rank for all on one side of it set out together. Each rank takes its own block out of what
// comes by and passes the others on, both ways at once. Bundles stand in scratch: while one goes on the next
// one comes in.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p < 3 ? p - 1 : p + ceil(p / 2) - 1
// Bytes:        b * (ceil(p * p / 2) - 1)
// Scratch:      p < 2 ? 0 : 2 * b * (p + 1)
// Good for:     ranks that know their neighbours only
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::alltoall_along {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, left = r, right = p - 1 - r;  // how many are there
  if (!s.in_place) b.copy(block(buffer::input, r), block(buffer::output, r));
  b.round();
  // Bundle 0 is the own one, bundle i from the left that of rank r - i: blocks r ... p - 1, of which the
  // first stays here. From the right it is that of rank r + i: blocks 0 ... r, of which the last stays here.
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
