// SPDX-License-Identifier: Apache-2.0
//
// Two binary trees over the same ranks, each numbered in-order. An inner node of one tree is a leaf
// of the other. The second tree is the mirror image of the first, over an even number of ranks. If
// the number is odd, the last rank is the root of both.
//
// Every edge belongs to one of two turns. The two edges from a node to its children have different
// turns, and so have its two edges to its parents. So in one turn a rank receives from at most one
// child and sends to at most one parent.
#pragma once

#include <algorithm>
#include <bit>

namespace tutti::patterns {

class two_trees {
 public:
  struct node {
    int parent = -1, lower = -1, upper = -1;  // ranks; -1: none
    int turn = 0, lower_turn = 0, upper_turn = 0;
    int depth = 0;
    int first = 0, last = 0;  // the ranks of the subtree

    constexpr bool is_leaf() const { return lower < 0 && upper < 0; }
  };
  node nodes[2];
  int height = 0;  // the maximum depth

  constexpr two_trees(int rank, int p) : paired_(p / 2 * 2) {
    const bool odd = p != paired_;
    if (paired_ == 0) return;
    height = static_cast<int>(std::bit_width(static_cast<unsigned>(paired_))) - (odd ? 0 : 1);
    for (int t = 0; t < 2; ++t) {
      node& n = nodes[t];
      if (rank == paired_) {
        n.lower = rank_of(top(), t);
        n.lower_turn = t;
        n.last = p - 1;
        continue;
      }
      const int x = position(rank, t);
      for (int y = x; y != top(); y = above(y)) ++n.depth;
      if (odd) ++n.depth;
      n.turn = turn_of(x, t);
      const int reach = (x & -x) - 1,
                ends[] = {rank_of(x - reach, t), rank_of(std::min(x + reach, paired_), t)};
      n.first = std::min(ends[0], ends[1]);
      n.last = std::max(ends[0], ends[1]);
      if (x != top())
        n.parent = rank_of(above(x), t);
      else if (odd)
        n.parent = paired_;
      const int below[] = {before(x), after(x)};
      if (below[0] == 0) continue;
      const int first_turn = turn_of(below[0], t);
      (t == 0 ? n.lower : n.upper) = rank_of(below[0], t);
      (t == 0 ? n.lower_turn : n.upper_turn) = first_turn;
      if (below[1] == 0) continue;
      (t == 0 ? n.upper : n.lower) = rank_of(below[1], t);
      (t == 0 ? n.upper_turn : n.lower_turn) = 1 - first_turn;
    }
  }

 private:
  // Positions are 1 .. paired_; those of the second tree count from the other end. The lowest set
  // bit of a position determines its height; position 0 means none.
  constexpr int position(int rank, int tree) const { return tree == 0 ? rank + 1 : paired_ - rank; }
  constexpr int rank_of(int x, int tree) const { return tree == 0 ? x - 1 : paired_ - x; }
  constexpr int top() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(paired_))); }
  constexpr int above(int x) const {
    const int bit = x & -x, up = (x ^ bit) | (2 * bit);
    return up <= paired_ ? up : x ^ bit;
  }
  static constexpr int before(int x) { return (x & 1) != 0 ? 0 : x - (x & -x) / 2; }
  constexpr int after(int x) const {
    int bit = (x & -x) / 2;
    while (bit != 0 && x + bit > paired_) bit /= 2;
    return bit == 0 ? 0 : x + bit;
  }
  constexpr int sibling(int x) const {
    if (x == top()) return 0;
    const int up = above(x);
    return x < up ? after(up) : before(up);
  }

  // Edges that must have different turns are those to siblings and the two edges up from one node.
  // They form two chains. One end of each chain is the edge above the top of a tree. It has turn 0
  // in the first tree and 1 in the second. Following the chain to that end takes O(p).
  constexpr int turn_of(int x, int tree) const {
    int t = tree, y = x;
    for (int z = sibling(y); z != 0; z = sibling(y)) {
      t = 1 - t;
      y = paired_ + 1 - z;
    }
    if (y == top()) return t;
    t = 1 - tree;
    y = paired_ + 1 - x;
    for (int z = sibling(y); z != 0; z = sibling(y)) {
      t = 1 - t;
      y = paired_ + 1 - z;
    }
    return 1 - t;
  }

  int paired_;  // number of ranks in both trees
};

}  // namespace tutti::patterns
