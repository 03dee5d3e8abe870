// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter_block/node_leader
//
// Each node reduces the whole vector at its leader, level by level. The leaders of the coarsest
// nodes reduce-scatter the sum among their nodes and scatter the blocks downwards.
//
// Source:       Karonis et al. 2000 (MPICH-G2's multilevel collectives)
// Restrictions: rank_order
// Calls:        in the node reduce; among the leaders reduce_scatter (block form if nodes are
//                 equal); in the node scatter or scatterv
// Good for:     short blocks on many nodes
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/levels.hpp"
#include "compositions/parts/tree_order.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader_sums {

void plan(planner& p) {
  const auto g = parts::levels_of(p, 0);
  const std::size_t top = g.size() - 1;
  const parts::tree_order order(p.topology(), parts::uniform_counts(p.size(), p.count()));
  bool receives = false;
  for (std::size_t l = 0; l < top; ++l) receives = receives || (g[l].is_leader && g[l].has_peers());

  // Blocks are reordered node by node before any reduction.
  area mine = p.operand();
  if (!order.rank_order) {
    mine = p.scratch(order.total);
    parts::copy_blocks(p, order, mine, p.operand(), parts::uniform_displs(p.size(), p.count()), false);
  }
  const area sums = p.scratch(receives ? order.total : 0);
  for (std::size_t l = 0; l < top; ++l) {
    p.call_if(g[l].has_peers(), g[l].group,
              parts::reduce(mine, sums, g[l].is_leader, order.total, g[l].leader));
    if (g[l].has_peers() && g[l].is_leader) mine = sums;
  }

  const auto shares = order.shares(p.topology(), g[top].members, top);
  const bool is_leader = g[top].group.member();
  if (is_leader && g[top].has_peers()) {
    const std::size_t own = shares[static_cast<std::size_t>(g[top].group.position())];
    const area part = p.scratch(own);
    p.call_on(g[top].group, parts::reduce_scatter_blocks(shares, g[top].group.position(), mine, part));
    mine = part;
  } else {
    p.skip();
  }

  for (std::size_t l = top; l-- > 0;) {
    const int position = g[l].group.position();
    if (!g[l].has_peers() || position < 0) {
      p.skip();
      continue;
    }
    const auto parts_of_node = order.shares(p.topology(), g[l].members, l);
    const std::size_t own = parts_of_node[static_cast<std::size_t>(position)];
    if (!g[l].is_leader) mine = own == p.count() ? p.output() : p.scratch(own);
    p.call_on(g[l].group,
              parts::scatter_blocks(parts_of_node, position, mine, mine, g[l].is_leader, g[l].leader));
  }
  p.copy(mine, p.output(), p.count());
}

}  // namespace tutti::compositions::node_leader_sums
