// SPDX-License-Identifier: Apache-2.0
//
// Blocks of all ranks node by node, nodes of nodes one after another: the order in which leaders collect and
// hand out blocks. It is that of the ranks where nodes are consecutive, else copies bring them from one to
// the other.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/group/hierarchy.hpp"
#include "compositions/parts/block_order.hpp"

namespace tutti::compositions::parts {

inline std::vector<int> node_by_node(const hierarchy& layout) {
  std::vector<int> ranks = in_order(layout.ranks());
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    for (int l = layout.levels() - 1; l >= 0; --l)
      if (layout.node_of(a, l) != layout.node_of(b, l)) return layout.node_of(a, l) < layout.node_of(b, l);
    return a < b;
  });
  return ranks;
}

/// With what a node or some ranks that lie together have.
struct tree_order : block_order {
  tree_order(const hierarchy& layout, std::vector<std::size_t> all_counts)
      : block_order(node_by_node(layout), std::move(all_counts)) {}
  using block_order::begin_of;
  using block_order::count_of;

  std::size_t begin_of(std::span<const int> some) const {
    std::size_t least = total;
    for (const int r : some) least = std::min(least, begin_of(r));
    return least;
  }
  std::size_t count_of(std::span<const int> some) const {
    std::size_t sum = 0;
    for (const int r : some) sum += count_of(r);
    return sum;
  }

  /// What each member of the group of level l speaks for: its own block at level 0, else its node's blocks.
  std::vector<std::size_t> shares(const hierarchy& layout, const std::vector<int>& members,
                                  std::size_t l) const {
    std::vector<std::size_t> all;
    for (const int r : members) {
      const int level = static_cast<int>(l) - 1;
      all.push_back(l == 0 ? count_of(r) : count_of(layout.members(layout.node_of(r, level), level)));
    }
    return all;
  }
  /// Where the blocks begin that a rank has as a member of the group of level l; beyond the last: all.
  std::size_t begin_of_share(const hierarchy& layout, int rank, std::size_t l) const {
    const int level = static_cast<int>(l) - 1;
    if (level == layout.levels()) return 0;
    return l == 0 ? begin_of(rank) : begin_of(layout.members(layout.node_of(rank, level), level));
  }
};

}  // namespace tutti::compositions::parts
