// SPDX-License-Identifier: Apache-2.0
//
// scan/multi_lane
//
// Nodes sum up what they have, each rank a part; the lanes, all ranks of the same place on their nodes,
// make the prefixes of the parts, and the nodes put them together again and in front of their own
// prefixes.
//
// Source:       Traff, Hunold 2020 (full-lane decompositions)
// Restrictions: equal_nodes, node_consecutive
// Calls:        in the node reduce_scatter (block form where the parts are equal), allgather or
//                 allgatherv, and scan; in the lanes exscan
// Good for:     long vectors where one core cannot saturate the network
#include "compositions/parts/calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_lane_scan {

void plan(planner& p) {
  const parts::lanes s(p);
  const std::size_t n = p.count();
  const auto counts = parts::split(n, s.width);
  const int own = static_cast<int>(s.place);
  area before{};
  if (s.nodes > 1) {
    area part = p.operand();
    if (s.width > 1) part = p.scratch(counts[s.place]);
    p.call_if(s.width > 1, s.node, parts::reduce_scatter_blocks(counts, own, p.operand(), part));
    before = p.scratch(n);
    const area own_before = before + parts::sums_before(counts)[s.place];
    p.call_on(s.lane, parts::call_of(collective::exscan, part, own_before, counts[s.place]));
    // Nothing lies before the first node.
    p.call_if(s.width > 1 && s.own_node > 0, s.node,
              parts::gather_blocks(true, counts, own, own_before, before, true));
  }
  p.call_if(s.width > 1, s.node, parts::call_of(collective::scan, p.operand(), p.output(), n));
  if (s.width == 1) p.copy(p.operand(), p.output(), n);
  if (s.own_node > 0) p.combine(before, p.output(), p.output(), n);
}

}  // namespace tutti::compositions::multi_lane_scan
