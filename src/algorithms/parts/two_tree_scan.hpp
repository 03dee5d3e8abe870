// SPDX-License-Identifier: Apache-2.0
//
// What scan/double_tree and exscan/double_tree have in common: each half of the vector travels
// along a binary tree of its own, segment by segment, first upwards and then downwards.
#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/patterns/two_trees.hpp"

namespace tutti::parts {

// The position of a rank in the tree of one half.
class half_position {
 protected:
  half_position(const shape& s, builder& b, const patterns::two_trees& trees, int tree)
      : b_(b),
        n_(trees.nodes[tree]),
        tree_(tree),
        below_(trees.height - n_.depth - 1),
        above_(trees.height + n_.depth),
        gives_(n_.last < s.size - 1),
        needs_(n_.first > 0) {}

  place part(buffer which, int behind) const {
    return segment(block(which, tree_, partition::split), at(-behind, 1));
  }

  builder& b_;
  patterns::two_trees::node n_;
  int tree_;
  int below_, above_;  // by how many steps the way up and the way down are behind
  bool gives_;         // a rank above the interval needs its sum
  bool needs_;         // there are ranks below the interval
};

// Declares the partition into two halves and their segments.
inline void split_for_two_trees(const shape& s, builder& b) {
  b.split_into(2);
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
}

// Sends all segments of both halves. A segment takes `height` steps upwards, and then as many
// downwards. A step has two turns, one for each child of a node.
template <class Half>
void send_along_two_trees(builder& b, const patterns::two_trees& trees, Half (&halves)[2]) {
  b.loop({2 * trees.height - 1, 2}, [&] {
    for (const int turn : {0, 1}) {
      for (Half& h : halves) h.transfer_up(turn);
      for (Half& h : halves) h.transfer_down(turn);
      for (Half& h : halves) h.combine(turn);
      b.round();
    }
  });
}

}  // namespace tutti::parts
