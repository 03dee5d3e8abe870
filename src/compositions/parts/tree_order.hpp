// SPDX-License-Identifier: Apache-2.0
//
// Orders the blocks of all ranks node by node, recursively for nested nodes. Leaders gather and
// scatter blocks in this order. It is the rank order if the ranks of every node are consecutive;
// otherwise copies convert between the two.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/group/hierarchy.hpp"
#include "compositions/parts/block_order.hpp"

namespace tutti::compositions::parts {

inline std::vector<int> node_by_node(const hierarchy& topology) {
  std::vector<int> ranks = in_order(topology.ranks());
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    for (int l = topology.levels() - 1; l >= 0; --l)
      if (topology.node_of(a, l) != topology.node_of(b, l))
        return topology.node_of(a, l) < topology.node_of(b, l);
    return a < b;
  });
  return ranks;
}

/// A block_order with the ranges of blocks of a node or of ranks that are adjacent in this order.
struct tree_order : block_order {
  tree_order(const hierarchy& topology, std::vector<std::size_t> all_counts)
      : block_order(node_by_node(topology), std::move(all_counts)) {}
  using block_order::begin_of;
  using block_order::count_of;

  std::size_t begin_of(std::span<const int> members) const {
    std::size_t begin = total;
    for (const int r : members) begin = std::min(begin, begin_of(r));
    return begin;
  }
  std::size_t count_of(std::span<const int> members) const {
    std::size_t sum = 0;
    for (const int r : members) sum += count_of(r);
    return sum;
  }

  /// The number of elements that each member of the group of level l represents. They are its own
  /// block if l is 0, otherwise the blocks of its node.
  std::vector<std::size_t> shares(const hierarchy& topology, const std::vector<int>& members,
                                  std::size_t l) const {
    std::vector<std::size_t> all;
    for (const int r : members) {
      const int level = static_cast<int>(l) - 1;
      all.push_back(l == 0 ? count_of(r) : count_of(topology.members(topology.node_of(r, level), level)));
    }
    return all;
  }
  /// The position of the blocks that a rank represents in the group of level l. Beyond the last
  /// group a rank represents all blocks.
  std::size_t begin_of_share(const hierarchy& topology, int rank, std::size_t l) const {
    const int level = static_cast<int>(l) - 1;
    if (level == topology.levels()) return 0;
    return l == 0 ? begin_of(rank) : begin_of(topology.members(topology.node_of(rank, level), level));
  }
};

}  // namespace tutti::compositions::parts
