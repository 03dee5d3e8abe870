// SPDX-License-Identifier: Apache-2.0
//
// A tree over ranks 0 .. p-1 with any root, whose edges are hops of 2^d ranks that never go around the ends.
// Ranks in a row are cut into two halves; the one of them who leads all goes on to lead its half, and is the
// parent of the other half's leader; and so on in each half. A subtree is a row of ranks, its leader
// somewhere in it, and the tree is ceil(log2 p) high.
//
// Why there is always such a hop: the next rank of the other half is a ranks away from the leader, a power of
// two is among a .. 2a-1, and the other half has a ranks or more, since it is not the shorter one. But for a
// leader in the middle of an odd number: it counts to the longer half, and a is 1.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

namespace tutti::patterns {

/// Ranks low .. high - 1.
struct row {
  int low, high;

  constexpr int size() const { return high - low; }
  constexpr bool contains(int rank) const { return low <= rank && rank < high; }
};

/// One rank's place in the tree.
struct hop_tree {
  struct child {
    int rank;
    row ranks;  ///< its subtree
  };
  int parent = -1;              ///< the root has none
  row ranks{};                  ///< the subtree
  std::vector<child> children;  ///< the largest subtree, which is the farthest on its side, first

  hop_tree(int rank, int root, int p) : ranks{0, p} {
    row all{0, p};
    for (int leader = root; all.size() > 1;) {
      const int below = leader - all.low, above = all.high - 1 - leader;
      const bool upwards = below <= above;
      const int kept = std::max(all.size() / 2, std::min(below, above) + 1);
      const row mine = upwards ? row{all.low, all.low + kept} : row{all.high - kept, all.high};
      const row other = upwards ? row{mine.high, all.high} : row{all.low, mine.low};
      const int gap = upwards ? other.low - leader : leader - other.high + 1;
      const int hop = static_cast<int>(std::bit_ceil(static_cast<unsigned>(gap)));
      const int follower = upwards ? leader + hop : leader - hop;
      if (rank == leader) {
        children.push_back({follower, other});
      } else if (rank == follower) {
        parent = leader;
        ranks = other;
      }
      const bool follows = other.contains(rank);
      all = follows ? other : mine;
      if (follows) leader = follower;
    }
  }

  /// Calls body(child), the smallest subtree first: theirs are the ranks next to those of the children
  /// before.
  template <class Body>
  void for_each_child_up(Body&& body) const {
    for (auto c = children.rbegin(); c != children.rend(); ++c) body(*c);
  }

  /// `rank`, whose place this is, and its children without children, who are next to it.
  row alone(int rank) const {
    row all{rank, rank + 1};
    for (const child& c : children)
      if (c.ranks.size() == 1) all = {std::min(all.low, c.rank), std::max(all.high, c.rank + 1)};
    return all;
  }
};

}  // namespace tutti::patterns
