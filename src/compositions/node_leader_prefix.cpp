// SPDX-License-Identifier: Apache-2.0
//
// scan/node_leader, exscan/node_leader
//
// Each node computes its prefixes; its last rank then holds the sum of the node. The last ranks
// compute prefixes of these sums, level by level. The nodes combine the sum of all preceding nodes
// on the left of their own prefixes.
//
// Source:       MPICH (scan over shared memory and node roots)
// Restrictions: node_consecutive
// Calls:        in the node scan or exscan, among its last ranks exscan, in the node bcast
// Good for:     many nodes, if the prefix of all ranks would cross the network often
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/levels.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader_prefix {

namespace {

struct group_led_by_last {
  subgroup group;
  int size = 1;
  bool begins_with_rank_0 = false;  ///< rank 0 is in the finer node of its first member
};

// The same as parts::levels_of, but the last rank of a node leads it: the leader has the last
// position.
std::vector<group_led_by_last> groups_of(planner& p) {
  const hierarchy& topology = p.topology();
  const int top = topology.levels();
  std::vector<group_led_by_last> all;
  for (int l = 0; l <= top; ++l) {
    std::vector<int> members;
    const int node = l < top ? topology.node_of(p.rank(), l) : 0;
    if (l == 0) {
      const auto ranks = topology.members(node);
      members.assign(ranks.begin(), ranks.end());
    } else {
      for (int fine = 0; fine < topology.nodes(l - 1); ++fine)
        if (const auto ranks = topology.members(fine, l - 1);
            l == top || topology.node_of(ranks[0], l) == node)
          members.push_back(ranks.back());
    }
    group_led_by_last g;
    g.size = static_cast<int>(members.size());
    g.begins_with_rank_0 = l == top || topology.members(node, l)[0] == 0;
    g.group = p.list(std::move(members));
    all.push_back(std::move(g));
  }
  return all;
}

// Computes the prefixes within a node. Returns the area of the node's sum, which is valid on its
// last rank.
area prefixes_of_node(planner& p, const group_led_by_last& node, bool last) {
  const area operand = p.operand();
  const std::size_t n = p.count();
  if (p.what() == collective::scan) {
    p.call_if(node.size > 1, node.group, parts::call_of(collective::scan, operand, p.output(), n));
    if (node.size == 1) p.copy(operand, p.output(), n);
    return p.output();
  }
  const bool sums_up = last && node.size > 1;
  area sum = operand;
  if (sums_up && p.requested().in_place) {
    sum = p.scratch(n);
    p.copy(operand, sum, n);
  }
  p.call_if(node.size > 1, node.group, parts::call_of(collective::exscan, operand, p.output(), n));
  if (!sums_up) return sum;
  const area total = p.requested().in_place ? sum : p.scratch(n);
  p.combine(p.output(), sum, total, n);
  return total;
}

}  // namespace

void plan(planner& p) {
  const std::vector<group_led_by_last> g = groups_of(p);
  const std::size_t top = g.size() - 1, n = p.count();
  const int position = g[0].group.position();
  area sum = prefixes_of_node(p, g[0], g[1].group.member());

  // Up: `before` is the sum of the part of the coarser node that precedes the finer one; `sum` is
  // that of the coarser node.
  std::vector<area> before(g.size());
  for (std::size_t l = 1; l <= top; ++l) {
    if (!g[l].group.member() || g[l].size == 1) {
      p.skip();
      continue;
    }
    before[l] = p.scratch(n);
    p.call_on(g[l].group, parts::call_of(collective::exscan, sum, before[l], n));
    if (l < top && g[l + 1].group.member()) {
      const area total = p.scratch(n);
      p.combine(before[l], sum, total, n);
      sum = total;
    }
  }

  // Down: `prefix` is the sum of all ranks before the node. No rank precedes the first node.
  area prefix = p.scratch(n);
  bool prefix_valid = false;  // prefix is valid on this rank, a member of the group above
  if (g[top].group.member() && g[top].group.position() > 0) {
    p.copy(before[top], prefix, n);
    prefix_valid = true;
  }
  for (std::size_t l = top; l-- > 0;) {
    p.call_if(!g[l].begins_with_rank_0 && g[l].size > 1, g[l].group, parts::bcast(prefix, n, g[l].size - 1));
    if (!g[l].group.member()) continue;
    prefix_valid = !g[l].begins_with_rank_0;
    if (l == 0 || g[l].group.position() == 0) continue;
    if (prefix_valid)
      p.combine(prefix, before[l], prefix, n);
    else
      p.copy(before[l], prefix, n);
    prefix_valid = true;
  }
  if (!prefix_valid) return;
  if (p.what() == collective::scan || position > 0)
    p.combine(prefix, p.output(), p.output(), n);
  else
    p.copy(prefix, p.output(), n);
}

}  // namespace tutti::compositions::node_leader_prefix
