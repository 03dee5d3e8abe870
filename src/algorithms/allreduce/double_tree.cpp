// SPDX-License-Identifier: Apache-2.0
//
// allreduce/double_tree
//
// Each half of the vector is reduced and broadcast along a separate binary tree, segment by
// segment. A rank that is an inner node of one tree is a leaf of the other, so that all ranks have
// the same load. The edges take turns, so that a rank receives from one child at a time. In every
// step of the pipeline a rank has segments on their way up and segments on their way down. The
// trees are numbered in-order, which preserves the order of operands.
//
// Source:       Sanders, Speck, Traeff 2009
// Reach:        hops around
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p == 1 ? 0 : 4 * (ceil(n / 2 / segment) - 1)
//                 + 4 * (floor_log(2, 2 * floor(p / 2)) + (2 * floor(p / 2) < p))
// Bytes:        p == 1 ? 0 : n * min(p, 4) / 2
// Scratch:      0
// Good for:     long vectors on many ranks, also with operators that do not commute
#include "schedule/algorithm.hpp"
#include "schedule/patterns/two_trees.hpp"

namespace tutti::algorithms::allreduce_double_tree {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::two_trees trees(s.rank, s.size);
  b.split_into(2);
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  const auto half = [](buffer which, int tree, int behind) {
    return segment(block(which, tree, partition::split), at(-behind, 1));
  };
  // A segment takes `height` steps upwards, and then as many downwards.
  b.loop({2 * trees.height - 1, 2}, [&] {
    for (const int turn : {0, 1}) {
      for (const int t : {0, 1}) {
        const auto& n = trees.nodes[t];
        const int below = trees.height - n.depth - 1;
        if (n.parent >= 0 && n.turn == turn)
          b.send(n.parent, half(n.is_leaf() ? buffer::input : buffer::output, t, below + 1));
        const auto receive = [&](int child, int child_turn, int other, bool is_lower) {
          if (child < 0 || child_turn != turn) return;
          const bool first = turn == 0 || other < 0;
          b.recv_reduce(child, is_lower, half(first ? buffer::input : buffer::output, t, below),
                        half(buffer::output, t, below));
        };
        receive(n.lower, n.lower_turn, n.upper, true);
        receive(n.upper, n.upper_turn, n.lower, false);
      }
      for (const int t : {0, 1}) {
        const auto& n = trees.nodes[t];
        const int result = trees.height + n.depth;
        if (n.lower >= 0 && n.lower_turn == turn) b.send(n.lower, half(buffer::output, t, result));
        if (n.upper >= 0 && n.upper_turn == turn) b.send(n.upper, half(buffer::output, t, result));
        if (n.parent >= 0 && n.turn == turn) b.recv(n.parent, half(buffer::output, t, result - 1));
      }
      b.round();
    }
  });
}

}  // namespace tutti::algorithms::allreduce_double_tree
