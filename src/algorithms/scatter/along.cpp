// SPDX-License-Identifier: Apache-2.0
//
// scatter/along
//
// The root sends the blocks of each side to its neighbor there, those that travel farthest first.
// Every rank forwards what arrives and keeps the last block. It forwards one block while it
// receives the next, so scratch memory holds two blocks.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p - 1
// Bytes:        b * (p - 1)
// Scratch:      p < 3 ? 0 : 2 * b
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::scatter_along {

namespace {

void write_root(const shape& s, builder& b) {
  const std::vector<parts::row> rows = parts::rows_of(s);
  std::vector<int> marks{0};
  for (const parts::row& one : rows) marks.push_back(one.length);
  parts::in_stages(b, 1, marks, [&](int step, int by) {
    for (const parts::row& one : rows)
      if (step < one.length)
        b.send(one.nearest(), block(buffer::input, one.at_distance(one.length - step, -by)));
  });
  if (!s.in_place) b.copy(block(buffer::input, s.root), whole(buffer::output));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (s.rank == s.root) return write_root(s, b);
  const parts::row_position here = parts::row_position_of(s);
  b.scratch(buffer::scratch0, std::min(here.behind, 2));
  const auto scratch = [](int step, int by) { return block(buffer::scratch0, at(step, by, 2)); };
  parts::in_stages(b, 1, {0, 1, here.behind, here.behind + 1}, [&](int step, int by) {
    if (step > 0) b.send(here.farther, scratch(step - 1, by));
    b.recv(here.nearer, step < here.behind ? scratch(step, by) : whole(buffer::output));
  });
}

}  // namespace tutti::algorithms::scatter_along
