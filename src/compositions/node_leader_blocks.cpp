// SPDX-License-Identifier: Apache-2.0
//
// gather/node_leader, scatter/node_leader, allgather/node_leader, allgatherv/node_leader
//
// A leader gathers the blocks of its node, so that blocks of whole nodes cross the network. In the
// other direction a leader receives its node's blocks together and scatters them. This happens
// level by level, and the root leads the nodes that contain it. Ranks may be distributed over nodes
// in any order: copies reorder the blocks.
//
// Source:       Karonis et al. 2000 (MPICH-G2's multilevel collectives); Traff 2006 (gather)
// Calls:        in the node gather or scatter; among the leaders the same, of nodes' blocks (vector
//                 forms if their lengths differ); in the node bcast
// Good for:     short blocks on many nodes
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/levels.hpp"
#include "compositions/parts/tree_order.hpp"
#include "compositions/parts/write_plan.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader_blocks {

namespace {

using parts::tree_order;
using groups = std::vector<parts::level_group>;

// Gathers the blocks of each node of level `to` - 1 at its leader, up through the groups below
// `to`. `dense` is the area for the blocks of all ranks in tree order. Returns the area of the
// blocks that this rank holds afterwards.
area collect(planner& p, const groups& g, const tree_order& order, std::size_t to, area mine, area dense) {
  for (std::size_t l = 0; l < to; ++l) {
    if (!g[l].has_peers()) {
      p.skip();
      continue;
    }
    const auto shares = order.shares(p.topology(), g[l].members, l);
    const int position = g[l].group.position();
    if (position < 0) {
      p.skip();
      continue;
    }
    const area own = dense + order.begin_of_share(p.topology(), p.rank(), l);
    const area all = dense + order.begin_of_share(p.topology(), p.rank(), l + 1);
    const bool is_leader = g[l].is_leader;
    p.call_on(g[l].group, parts::gather_blocks(false, shares, position, mine, is_leader ? all : mine,
                                               is_leader && mine == own, g[l].leader));
    if (is_leader) mine = all;
  }
  return mine;
}

bool leads_any_group(const groups& g) {
  for (const auto& one : g)
    if (one.is_leader && one.has_peers()) return true;
  return false;
}

void gather(planner& p) {
  const groups g = parts::levels_of(p, p.root());
  const tree_order order(p.topology(), parts::uniform_counts(p.size(), p.count()));
  const bool root = p.rank() == p.root();
  const bool direct = root && order.rank_order;
  const area dense = direct ? p.output() : p.scratch(leads_any_group(g) ? order.total : 0);
  const area mine = collect(p, g, order, g.size(), p.operand(), dense);
  if (!root) return;
  if (direct || p.size() == 1)
    p.copy(mine, p.output(), order.total);
  else
    parts::copy_blocks(p, order, dense, p.output(), parts::uniform_displs(p.size(), p.count()), true);
}

void scatter(planner& p) {
  const groups g = parts::levels_of(p, p.root());
  const tree_order order(p.topology(), parts::uniform_counts(p.size(), p.count()));
  const bool root = p.rank() == p.root();
  area mine = p.output();
  if (root) {
    mine = p.input();
    if (!order.rank_order) {
      mine = p.scratch(order.total);
      parts::copy_blocks(p, order, mine, p.input(), parts::uniform_displs(p.size(), p.count()), false);
    }
  }
  for (std::size_t l = g.size(); l-- > 0;) {
    const int position = g[l].group.position();
    if (!g[l].has_peers() || position < 0) {
      p.skip();
      continue;
    }
    const auto shares = order.shares(p.topology(), g[l].members, l);
    const std::size_t own = shares[static_cast<std::size_t>(position)];
    const bool is_leader = g[l].is_leader;
    if (!is_leader) mine = own == p.count() ? p.output() : p.scratch(own);
    p.call_on(g[l].group, parts::scatter_blocks(shares, position, mine, mine, is_leader, g[l].leader));
    if (is_leader)
      mine = mine + (order.begin_of_share(p.topology(), p.rank(), l) -
                     order.begin_of_share(p.topology(), p.rank(), l + 1));
  }
  if (!root || !p.requested().in_place) p.copy(mine, p.output(), p.count());
}

void allgather(planner& p) {
  const groups g = parts::levels_of(p, 0);
  const std::size_t top = g.size() - 1;
  const bool uneven = p.what() == collective::allgatherv;
  const tree_order order(p.topology(), uneven ? parts::vector_of(p.requested().out_counts, p.size())
                                              : parts::uniform_counts(p.size(), p.count()));
  const auto displs = uneven ? parts::vector_of(p.requested().out_displs, p.size())
                             : parts::uniform_displs(p.size(), p.count());
  // Displacements are local to this rank, so its communication must not depend on them. But a rank
  // needs no scratch memory if its displacements equal the tree order.
  const bool direct = parts::displs_match(order, displs);
  const area dense = direct ? p.output() : p.scratch(order.total);
  area mine = p.operand();
  if (uneven && p.requested().in_place) mine = mine + displs[static_cast<std::size_t>(p.rank())];
  mine = collect(p, g, order, top, mine, dense);

  const subgroup& leaders = g[top].group;
  if (leaders.member() && g[top].has_peers()) {
    const area own = dense + order.begin_of_share(p.topology(), p.rank(), top);
    p.copy(mine, own, order.shares(p.topology(), {p.rank()}, top)[0]);  // all leaders in place
    p.call_on(leaders, parts::gather_blocks(true, order.shares(p.topology(), g[top].members, top),
                                            leaders.position(), own, dense, true));
  } else {
    if (leaders.member()) p.copy(mine, dense, order.total);
    p.skip();
  }
  for (std::size_t l = top; l-- > 0;)
    p.call_if(g[l].has_peers(), g[l].group, parts::bcast(dense, order.total, g[l].leader));
  if (!direct) parts::copy_blocks(p, order, dense, p.output(), displs, true);
}

}  // namespace

void plan(planner& p) {
  parts::write_plan(
      p, {{collective::gather, gather}, {collective::scatter, scatter}, {collective::allgather, allgather}});
}

}  // namespace tutti::compositions::node_leader_blocks
