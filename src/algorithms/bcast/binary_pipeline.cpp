// SPDX-License-Identifier: Apache-2.0
//
// bcast/binary_pipeline
//
// A balanced binary tree around the root, whose subtrees are adjacent ranges of ranks. The vector
// travels down in segments. A rank forwards one segment to both children while it receives the
// next.
//
// Source:       folklore; pipelined binary tree
// Parameters:   segment = 32768 in 1..1073741824: bytes of one message
// Rounds:       p < 3 ? (p - 1) * segments
//                 : 2 * (segments - 1) + floor_log(2, p + 1) + floor_log(2, 2 * (p + 1) / 3) - 1
// Bytes:        n * min(p - 1, 2)
// Scratch:      0
// Good for:     long vectors on so many ranks that filling a chain takes long
#include "schedule/algorithm.hpp"
#include "schedule/patterns/post_order.hpp"

namespace tutti::algorithms::bcast_binary_pipeline {

void write(const shape& s, builder& b) {
  if (s.size == 1) return;
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  // Positions count backwards, so that the root, the last in post-order, has position 0.
  const int last = s.size - 1, v = s.relative();
  const patterns::post_order_node own = patterns::post_order(last - v, 0, last);
  const auto rank_at = [&](int position) { return s.absolute(last - position); };
  const bool root = v == 0, leaf = own.first < 0;
  const place data = whole(root ? buffer::input : buffer::output);
  b.loop({root || leaf ? 0 : 1, 1}, [&] {
    if (!root) b.recv(rank_at(own.parent), segment(data, at(0, 1)));
    for (const int child : {own.first, own.second})
      if (child >= 0) b.send(rank_at(child), segment(data, at(root ? 0 : -1, 1)));
  });
}

}  // namespace tutti::algorithms::bcast_binary_pipeline
