// SPDX-License-Identifier: Apache-2.0
//
// A rectangle of ranks: nodes (level 0) of equal width, and lanes. The i-th lane contains the i-th
// rank of every node. Concatenated, the nodes are in rank order if the ranks of every node are
// consecutive.
#pragma once

#include <vector>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

struct lanes {
  const hierarchy& topology;
  std::size_t width, nodes;          ///< ranks of a node; number of nodes
  std::size_t position, local_node;  ///< of this rank: its position in `node`, and in `lane`
  subgroup node, lane;

  explicit lanes(planner& p)
      : topology(p.topology()),
        width(static_cast<std::size_t>(topology.ranks_per_node())),
        nodes(static_cast<std::size_t>(topology.nodes())),
        position(position_of(p.rank())),
        local_node(node_of(p.rank())),
        node(p.node()),
        lane(p.lane()) {}

  std::size_t position_of(int rank) const {
    return static_cast<std::size_t>(topology.position_in_node(rank));
  }
  std::size_t node_of(int rank) const { return static_cast<std::size_t>(topology.node_of(rank)); }
  int rank_at(std::size_t n, std::size_t at) const { return topology.members(static_cast<int>(n))[at]; }

  std::vector<int> lane_by_lane() const {
    std::vector<int> ranks;
    for (std::size_t at = 0; at < width; ++at)
      for (std::size_t n = 0; n < nodes; ++n) ranks.push_back(rank_at(n, at));
    return ranks;
  }
  std::vector<int> node_by_node() const {
    std::vector<int> ranks;
    for (std::size_t n = 0; n < nodes; ++n)
      for (std::size_t at = 0; at < width; ++at) ranks.push_back(rank_at(n, at));
    return ranks;
  }
};

}  // namespace tutti::compositions::parts
