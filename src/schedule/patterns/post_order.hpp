// SPDX-License-Identifier: Apache-2.0
//
// The balanced binary tree over positions low .. high, numbered in post-order: first subtree,
// second subtree, root. So a subtree is an interval, and `first op second op own` keeps the order
// of operands.
#pragma once

namespace tutti::patterns {

/// The neighbors of one position; -1 if there is none.
struct post_order_node {
  int parent = -1, first = -1, second = -1, depth = 0;
};

constexpr post_order_node post_order(int v, int low, int high) {
  post_order_node n;
  for (;;) {
    const int below = high - low, left = (below + 1) / 2;
    if (v == high) {
      if (below > 0) n.first = low + left - 1;
      if (below > 1) n.second = high - 1;
      return n;
    }
    n.parent = high;
    ++n.depth;
    if (v < low + left) {
      high = low + left - 1;
    } else {
      low += left;
      --high;
    }
  }
}

}  // namespace tutti::patterns
