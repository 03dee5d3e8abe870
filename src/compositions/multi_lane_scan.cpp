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
  const parts::lane_grid grid(p);
  const std::size_t n = p.count();
  const auto counts = parts::split(n, grid.ranks_per_node);
  const int self = static_cast<int>(grid.local_rank);
  area before{};
  if (grid.nodes > 1) {
    area part = p.operand();
    if (grid.ranks_per_node > 1) part = p.scratch(counts[grid.local_rank]);
    p.call_if(grid.ranks_per_node > 1, grid.node,
              parts::reduce_scatter_blocks(counts, self, p.operand(), part));
    before = p.scratch(n);
    const area own_before = before + parts::dense_displs(counts)[grid.local_rank];
    p.call_on(grid.lane, parts::call_of(collective::exscan, part, own_before, counts[grid.local_rank]));
    // No rank precedes the first node, so it needs no prefix.
    p.call_if(grid.ranks_per_node > 1 && grid.node_index > 0, grid.node,
              parts::gather_blocks(true, counts, self, own_before, before, true));
  }
  p.call_if(grid.ranks_per_node > 1, grid.node, parts::call_of(collective::scan, p.operand(), p.output(), n));
  if (grid.ranks_per_node == 1) p.copy(p.operand(), p.output(), n);
  if (grid.node_index > 0) p.combine(before, p.output(), p.output(), n);
}

}  // namespace tutti::compositions::multi_lane_scan
