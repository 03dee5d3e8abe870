// SPDX-License-Identifier: Apache-2.0
//
// barrier/node_leader, bcast/node_leader, reduce/node_leader, allreduce/node_leader
//
// The ranks of a node communicate with its leader, the leaders with one another, and then the
// leaders with their nodes again. If nodes form nested levels, the leaders do so level by level.
// The root leads the nodes that contain it. Only one message per node crosses the network in each
// step.
//
// Source:       Karonis et al. 2000 (MagPIe and MPICH-G2's multilevel collectives); MPICH, Open MPI
//                 (HAN)
// Restrictions: rank_order
// Calls:        in the node barrier, bcast or reduce; among the leaders the same collective; in the
//                 node barrier or bcast
// Good for:     short vectors on many nodes, if the network's latency dominates
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/levels.hpp"
#include "compositions/parts/write_plan.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader {

namespace {

using groups = std::vector<parts::level_group>;

void barrier(planner& p) {
  const groups g = parts::levels_of(p, 0);
  for (std::size_t l = 0; l < g.size(); ++l) p.call_if(g[l].has_peers(), g[l].group, parts::barrier());
  for (std::size_t l = g.size() - 1; l-- > 0;) p.call_if(g[l].has_peers(), g[l].group, parts::barrier());
}

// Broadcasts from the leaders of the nodes of level `from` - 1 down to all ranks.
void distribute(planner& p, const groups& g, std::size_t from, area data) {
  for (std::size_t l = from; l-- > 0;)
    p.call_if(g[l].has_peers(), g[l].group, parts::bcast(data, p.count(), g[l].leader));
}

void bcast(planner& p) {
  const groups g = parts::levels_of(p, p.root());
  distribute(p, g, g.size(), p.rank() == p.root() ? p.operand() : p.output());
}

// Reduces up through the groups below `to`. Returns the area with the value that this rank has
// combined.
area collect(planner& p, const groups& g, std::size_t to, area result) {
  area mine = p.operand();
  for (std::size_t l = 0; l < to; ++l) {
    const bool receives = g[l].has_peers() && g[l].is_leader;
    p.call_if(g[l].has_peers(), g[l].group, parts::reduce(mine, result, receives, p.count(), g[l].leader));
    if (receives) mine = result;
  }
  return mine;
}

void reduce(planner& p) {
  const groups g = parts::levels_of(p, p.root());
  bool receives = false;
  for (const auto& one : g) receives = receives || (one.is_leader && one.has_peers());
  const area result = p.rank() == p.root() ? p.output() : p.scratch(receives ? p.count() : 0);
  const area mine = collect(p, g, g.size(), result);
  if (p.rank() == p.root()) p.copy(mine, p.output(), p.count());
}

void allreduce(planner& p) {
  const groups g = parts::levels_of(p, 0);
  const std::size_t top = g.size() - 1;
  const area mine = collect(p, g, top, p.output());
  // All leaders call with their operands in place, or none does.
  const bool combined = p.topology().nodes(p.topology().levels() - 1) < p.size();
  if (g[top].group.member() && (combined || !g[top].has_peers())) p.copy(mine, p.output(), p.count());
  p.call_if(g[top].has_peers(), g[top].group,
            parts::call_of(collective::allreduce, combined ? p.output() : mine, p.output(), p.count()));
  distribute(p, g, top, p.output());
}

}  // namespace

void plan(planner& p) {
  parts::write_plan(p, {{collective::barrier, barrier},
                        {collective::bcast, bcast},
                        {collective::reduce, reduce},
                        {collective::allreduce, allreduce}});
}

}  // namespace tutti::compositions::node_leader
