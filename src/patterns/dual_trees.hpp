// SPDX-License-Identifier: Apache-2.0
//
// Two balanced binary trees, over the lower and the upper half of the ranks. A node comes before its
// subtrees, and the first of these before the second, so a node and then its children in turn are in rank
// order.
#pragma once

namespace tutti::patterns {

struct dual_trees {
  int root, other_root;
  int parent = -1, first = -1, second = -1;  // -1: none
  int depth = 0;

  constexpr dual_trees(int rank, int p) : root(0), other_root(-1) {
    const int cut = (p + 1) / 2;
    int low = 0, high = cut - 1;
    if (rank >= cut) {
      low = cut;
      high = p - 1;
    }
    root = low;
    other_root = p == 1 ? -1 : cut - low;
    while (low != rank) {
      const int last_of_first = low + (high - low + 1) / 2;
      parent = low;
      ++depth;
      if (rank <= last_of_first) {
        low = low + 1;
        high = last_of_first;
      } else {
        low = last_of_first + 1;
      }
    }
    const int last_of_first = low + (high - low + 1) / 2;
    if (low < high) first = low + 1;
    if (last_of_first < high) second = last_of_first + 1;
  }
};

}  // namespace tutti::patterns
