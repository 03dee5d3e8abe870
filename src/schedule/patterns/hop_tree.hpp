// SPDX-License-Identifier: Apache-2.0
//
// A tree over ranks 0 .. p-1 with any root. Its edges are hops of 2^d ranks that never wrap around
// the ends. A row of ranks is cut into two halves. The leader of the row leads its own half and is
// the parent of the leader of the other half. The same rule applies to each half. So a subtree is a
// row of ranks that contains its leader, and the tree has height ceil(log2 p).
//
// Such a hop always exists. Let a be the distance from the leader to the nearest rank of the other
// half. A power of two lies in a .. 2a-1. The other half has at least a ranks, because it is not
// the shorter half. The exception is a leader in the middle of an odd number of ranks: it belongs
// to the longer half, and a is 1.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

namespace tutti::patterns {

/// The ranks low .. high - 1.
struct row {
  int low, high;

  constexpr int size() const { return high - low; }
  constexpr bool contains(int rank) const { return low <= rank && rank < high; }
};

/// The position of one rank in the tree.
struct hop_tree {
  struct child {
    int rank;
    row ranks;  ///< its subtree
  };
  int parent = -1;              ///< -1 for the root
  row ranks{};                  ///< the ranks of the subtree
  std::vector<child> children;  ///< largest subtree first, which is the farthest on its side

  hop_tree(int rank, int root, int p) : ranks{0, p} {
    row all{0, p};
    for (int leader = root; all.size() > 1;) {
      const int below = leader - all.low, above = all.high - 1 - leader;
      const bool upwards = below <= above;
      const int kept_ranks = std::max(all.size() / 2, std::min(below, above) + 1);
      const row own_half =
          upwards ? row{all.low, all.low + kept_ranks} : row{all.high - kept_ranks, all.high};
      const row other_half = upwards ? row{own_half.high, all.high} : row{all.low, own_half.low};
      const int gap = upwards ? other_half.low - leader : leader - other_half.high + 1;
      const int hop = static_cast<int>(std::bit_ceil(static_cast<unsigned>(gap)));
      const int follower = upwards ? leader + hop : leader - hop;
      if (rank == leader) {
        children.push_back({follower, other_half});
      } else if (rank == follower) {
        parent = leader;
        ranks = other_half;
      }
      const bool in_other_half = other_half.contains(rank);
      all = in_other_half ? other_half : own_half;
      if (in_other_half) leader = follower;
    }
  }

  /// Calls body(child), the smallest subtree first. The ranks of each subtree are next to those of
  /// the subtrees before it.
  template <class Body>
  void for_each_child_up(Body&& body) const {
    for (auto c = children.rbegin(); c != children.rend(); ++c) body(*c);
  }

  /// The row of `rank` (the rank of this object) and its adjacent children that are leaves.
  row leaf_range(int rank) const {
    row all{rank, rank + 1};
    for (const child& c : children)
      if (c.ranks.size() == 1) all = {std::min(all.low, c.rank), std::max(all.high, c.rank + 1)};
    return all;
  }
};

}  // namespace tutti::patterns
