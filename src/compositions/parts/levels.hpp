// SPDX-License-Identifier: Apache-2.0
//
// The groups of a recursive hierarchy. The leader of a node is the root if the node contains it,
// otherwise the node's first rank. Group 0 is a rank's node. Group l consists of the leaders of the
// nodes of level l - 1 within its node of level l. The last group consists of the leaders of the
// coarsest nodes. Groups are in the order of the nodes, which is the rank order if the ranks of
// every node are consecutive.
#pragma once

#include <vector>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

struct level_group {
  subgroup group;
  std::vector<int> members;  ///< ranks
  int leader = 0;            ///< position in this group of the leader of the next coarser node
  bool is_leader = false;    ///< this rank is that leader
  /// Returns whether the group has several members. Calls in a group of one have no effect.
  bool has_peers() const noexcept { return members.size() > 1; }
};

inline int leader_of(const hierarchy& topology, int node, int level, int root) {
  return topology.node_of(root, level) == node ? root : topology.members(node, level)[0];
}

inline std::vector<level_group> levels_of(planner& p, int root) {
  const hierarchy& topology = p.topology();
  const int top = topology.levels();
  std::vector<level_group> all(static_cast<std::size_t>(top) + 1);
  for (int l = 0; l <= top; ++l) {
    level_group& g = all[static_cast<std::size_t>(l)];
    const int node = l < top ? topology.node_of(p.rank(), l) : 0;
    const int leader = l < top ? leader_of(topology, node, l, root) : root;
    if (l == 0) {
      const auto ranks = topology.members(node);
      g.members.assign(ranks.begin(), ranks.end());
    } else {
      for (int fine = 0; fine < topology.nodes(l - 1); ++fine)
        if (l == top || topology.node_of(topology.members(fine, l - 1)[0], l) == node)
          g.members.push_back(leader_of(topology, fine, l - 1, root));
    }
    for (std::size_t i = 0; i < g.members.size(); ++i)
      if (g.members[i] == leader) g.leader = static_cast<int>(i);
    g.is_leader = leader == p.rank();
    g.group = p.list(g.members);
  }
  return all;
}

}  // namespace tutti::compositions::parts
