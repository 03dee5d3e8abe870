// SPDX-License-Identifier: Apache-2.0
//
// The ranks as a grid of nodes (level 0) of equal size and lanes. The i-th lane contains the i-th
// rank of every node. Concatenated, the nodes are in rank order if the ranks of every node are
// consecutive.
#pragma once

#include <vector>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

struct lane_grid {
  const hierarchy& topology;
  std::size_t ranks_per_node, nodes;
  std::size_t local_rank, node_index;  ///< of this rank: its index in `node` and in `lane`
  subgroup node, lane;                 ///< of this rank

  explicit lane_grid(planner& p)
      : topology(p.topology()),
        ranks_per_node(static_cast<std::size_t>(topology.ranks_per_node())),
        nodes(static_cast<std::size_t>(topology.nodes())),
        local_rank(local_rank_of(p.rank())),
        node_index(node_index_of(p.rank())),
        node(p.node()),
        lane(p.lane()) {}

  std::size_t local_rank_of(int rank) const {
    return static_cast<std::size_t>(topology.position_in_node(rank));
  }
  std::size_t node_index_of(int rank) const { return static_cast<std::size_t>(topology.node_of(rank)); }
  int rank_at(std::size_t node, std::size_t local_rank) const {
    return topology.members(static_cast<int>(node))[local_rank];
  }

  /// All ranks: the members of lane 0, then those of lane 1 ...
  std::vector<int> lane_by_lane() const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < ranks_per_node; ++i)
      for (std::size_t n = 0; n < nodes; ++n) ranks.push_back(rank_at(n, i));
    return ranks;
  }
  /// All ranks: the members of node 0, then those of node 1 ...
  std::vector<int> node_by_node() const {
    std::vector<int> ranks;
    for (std::size_t n = 0; n < nodes; ++n)
      for (std::size_t i = 0; i < ranks_per_node; ++i) ranks.push_back(rank_at(n, i));
    return ranks;
  }
};

}  // namespace tutti::compositions::parts
