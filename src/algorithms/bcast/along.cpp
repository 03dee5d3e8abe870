// SPDX-License-Identifier: Apache-2.0
//
// bcast/along
//
// The vector travels from the root to both ends of the ranks, from neighbor to neighbor, in
// segments. A rank forwards one segment while it receives the next.
//
// Source:       folklore; pipelined chain
// Reach:        neighbors
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       p < 2 ? 0 : min(root, p - 1 - root) == 0 ? segments + p - 2 :
//                 2 * segments - 2 + max(max(root, p - 1 - root), min(root, p - 1 - root) + 1)
// Bytes:        p < 2 ? 0 : min(root, p - 1 - root) == 0 ? n : 2 * n
// Scratch:      0
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::bcast_along {

void write(const shape& s, builder& b) {
  if (s.size == 1) return;
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  if (s.rank == s.root) {
    b.loop({0, 1}, [&] {
      for (const parts::row& one : parts::rows_of(s))
        b.send(one.nearest(), segment(whole(buffer::input), at(0, 1)));
    });
    return;
  }
  const auto [nearer, farther, behind] = parts::row_position_of(s);
  b.loop({behind > 0 ? 1 : 0, 1}, [&] {
    b.recv(nearer, segment(whole(buffer::output), at(0, 1)));
    if (behind > 0) b.send(farther, segment(whole(buffer::output), at(-1, 1)));
  });
}

}  // namespace tutti::algorithms::bcast_along
