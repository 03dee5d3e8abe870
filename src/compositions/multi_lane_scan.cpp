// SPDX-License-Identifier: Apache-2.0
//
// scan/multi_lane
//
// Each node reduces its vectors, so that each of its ranks holds a part of the sum. The lanes (all
// ranks with the same position on their nodes) compute the prefixes of the parts. The nodes gather
// these parts and combine them on the left of their own prefixes.
//
// Source:       Traff, Hunold 2020 (full-lane decompositions)
// Restrictions: equal_nodes, node_consecutive
// Calls:        in the node reduce_scatter (block form if the parts are equal), allgather or
//                 allgatherv, and scan; in the lanes exscan
// Good for:     long vectors if one core cannot saturate the network
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_lane_scan {

void plan(planner& p) {
  const parts::lanes s(p);
  const std::size_t n = p.count();
  const auto counts = parts::split(n, s.width);
  const int self = static_cast<int>(s.position);
  area before{};
  if (s.nodes > 1) {
    area part = p.operand();
    if (s.width > 1) part = p.scratch(counts[s.position]);
    p.call_if(s.width > 1, s.node, parts::reduce_scatter_blocks(counts, self, p.operand(), part));
    before = p.scratch(n);
    const area own_before = before + parts::dense_displs(counts)[s.position];
    p.call_on(s.lane, parts::call_of(collective::exscan, part, own_before, counts[s.position]));
    // No rank precedes the first node, so it needs no prefix.
    p.call_if(s.width > 1 && s.local_node > 0, s.node,
              parts::gather_blocks(true, counts, self, own_before, before, true));
  }
  p.call_if(s.width > 1, s.node, parts::call_of(collective::scan, p.operand(), p.output(), n));
  if (s.width == 1) p.copy(p.operand(), p.output(), n);
  if (s.local_node > 0) p.combine(before, p.output(), p.output(), n);
}

}  // namespace tutti::compositions::multi_lane_scan
