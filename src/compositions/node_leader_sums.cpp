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
#include "compositions/parts/calls.hpp"
#include "compositions/parts/levels.hpp"
#include "compositions/parts/tree_order.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader_sums {

void plan(planner& p) {
  const auto g = parts::levels_of(p, 0);
  const std::size_t top = g.size() - 1;
  const parts::tree_order order(p.layout(), parts::uniform_counts(p.size(), p.count()));
  bool takes = false;
  for (std::size_t l = 0; l < top; ++l) takes = takes || (g[l].leads && g[l].several());

  // Blocks are reordered node by node before any reduction.
  area mine = p.operand();
  if (!order.plain) {
    mine = p.scratch(order.total);
    parts::copy_blocks(p, order, mine, p.operand(), parts::uniform_displs(p.size(), p.count()), false);
  }
  const area sums = p.scratch(takes ? order.total : 0);
  for (std::size_t l = 0; l < top; ++l) {
    p.call_if(g[l].several(), g[l].group, parts::reduce(mine, sums, g[l].leads, order.total, g[l].leader));
    if (g[l].several() && g[l].leads) mine = sums;
  }

  const auto shares = order.shares(p.layout(), g[top].members, top);
  const bool leads = g[top].group.member();
  if (leads && g[top].several()) {
    const std::size_t own = shares[static_cast<std::size_t>(g[top].group.place())];
    const area part = p.scratch(own);
    p.call_on(g[top].group, parts::reduce_scatter_blocks(shares, g[top].group.place(), mine, part));
    mine = part;
  } else {
    p.skip();
  }

  for (std::size_t l = top; l-- > 0;) {
    const int place = g[l].group.place();
    if (!g[l].several() || place < 0) {
      p.skip();
      continue;
    }
    const auto parts_of_node = order.shares(p.layout(), g[l].members, l);
    const std::size_t own = parts_of_node[static_cast<std::size_t>(place)];
    if (!g[l].leads) mine = own == p.count() ? p.output() : p.scratch(own);
    p.call_on(g[l].group, parts::scatter_blocks(parts_of_node, place, mine, mine, g[l].leads, g[l].leader));
  }
  p.copy(mine, p.output(), p.count());
}

}  // namespace tutti::compositions::node_leader_sums
