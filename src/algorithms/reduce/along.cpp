// SPDX-License-Identifier: Apache-2.0
//
// reduce/along
//
// Partial results travel from both ends of the ranks to the root, in segments. A rank receives and
// combines one segment while it forwards the one before. What arrives from the left is the left
// operand, what arrives from the right is the right one, so operands stay in order. The root
// combines a segment of the shorter side while the previous segment of the longer side is in
// progress.
//
// Source:       folklore; pipelined chain
// Reach:        neighbors
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p < 2 ? 0 : min(root, p - 1 - root) == 0 ? segments + p - 2 :
//                 2 * segments - 2 + max(max(root, p - 1 - root), min(root, p - 1 - root) + 1)
// Bytes:        p < 2 ? 0 : min(root, p - 1 - root) == 0 ? n : 2 * n
// Scratch:      p < 3 ? 0 : n
// Good for:     groups whose members know only their neighbors, also with operators that do not
//                 commute
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::reduce_along {

namespace {

void write_root(const shape& s, builder& b) {
  const std::vector<parts::row> rows = parts::rows_of(s);
  const int sides = static_cast<int>(rows.size());
  b.loop({sides - 1, 1}, [&] {
    // The root receives from the shorter side first.
    for (int i = 0; i < sides; ++i) {
      const parts::row& one = rows[static_cast<std::size_t>(sides - 1 - i)];
      const auto part = [&](buffer which) { return segment(whole(which), at(-i, 1)); };
      b.recv_reduce(one.nearest(), one.direction < 0, part(i == 0 ? buffer::input : buffer::output),
                    part(buffer::output));
    }
  });
}

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  if (s.rank == s.root) return write_root(s, b);
  const auto [nearer, farther, behind] = parts::row_position_of(s);
  const auto part = [](buffer which, int first) { return segment(whole(which), at(first, 1)); };
  if (behind == 0) {
    b.loop({0, 1}, [&] { b.send(nearer, part(buffer::input, 0)); });
    return;
  }
  b.scratch(buffer::scratch0, 1);
  b.loop({1, 1}, [&] {
    b.recv_reduce(farther, farther < s.rank, part(buffer::input, 0), part(buffer::scratch0, 0));
    b.send(nearer, part(buffer::scratch0, -1));
  });
}

}  // namespace tutti::algorithms::reduce_along
