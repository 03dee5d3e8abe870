// SPDX-License-Identifier: Apache-2.0
//
// bcast/multi_lane, reduce/multi_lane, allreduce/multi_lane, reduce_scatter_block/multi_lane
//
// The ranks of a node divide the vector among them. All ranks with the same position on their nodes
// form a lane and work on the same part. So every rank uses the network, each for an equal share.
//
// Source:       Traff, Hunold 2020 (full-lane decompositions)
// Restrictions: equal_nodes, rank_order
// Calls:        in the node scatter, reduce_scatter, gather or allgather of parts (vector forms if
//                 their lengths differ); in the lanes the same collective
// Good for:     long vectors if one core cannot saturate the network
#include "compositions/parts/block_order.hpp"
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "compositions/parts/write_plan.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_lane {

namespace {

// The part of the vector that belongs to a lane.
struct lane_share : parts::lane_grid {
  std::vector<std::size_t> counts, begins;
  std::size_t count, begin;
  explicit lane_share(planner& p)
      : lane_grid(p),
        counts(parts::split(p.count(), ranks_per_node)),
        begins(parts::dense_displs(counts)),
        count(counts[local_rank]),
        begin(begins[local_rank]) {}
};

void bcast(planner& p) {
  const lane_share grid(p);
  const bool root = p.rank() == p.root(), on_root_node = grid.node_index_of(p.root()) == grid.node_index;
  const int self = static_cast<int>(grid.local_rank), from = static_cast<int>(grid.local_rank_of(p.root()));
  const area data = root ? p.operand() : p.output();
  // On the root's node the parts go to scratch memory: no call may write to the root's data.
  const bool scatters = on_root_node && grid.ranks_per_node > 1;
  const area part = scatters && !root ? p.scratch(grid.count) : data + grid.begin;
  p.call_if(scatters, grid.node, parts::scatter_blocks(grid.counts, self, data, part, root, from));
  p.call_if(grid.nodes > 1, grid.lane,
            parts::bcast(part, grid.count, static_cast<int>(grid.node_index_of(p.root()))));
  const area result = root && scatters ? p.scratch(p.count()) : p.output();
  p.call_if(grid.ranks_per_node > 1, grid.node,
            parts::gather_blocks(true, grid.counts, self, part, result, !on_root_node));
}

void reduce(planner& p) {
  const lane_share grid(p);
  const bool root = p.rank() == p.root(), on_root_node = grid.node_index_of(p.root()) == grid.node_index;
  const int self = static_cast<int>(grid.local_rank);
  area mine = p.operand();
  if (grid.ranks_per_node > 1) mine = p.scratch(grid.count);
  p.call_if(grid.ranks_per_node > 1, grid.node,
            parts::reduce_scatter_blocks(grid.counts, self, p.operand(), mine));
  if (grid.nodes > 1) {
    const area sum = p.scratch(on_root_node ? grid.count : 0);
    p.call_on(grid.lane, parts::reduce(mine, sum, on_root_node, grid.count,
                                       static_cast<int>(grid.node_index_of(p.root()))));
    mine = sum;
  }
  p.call_if(on_root_node && grid.ranks_per_node > 1, grid.node,
            parts::gather_blocks(false, grid.counts, self, mine, p.output(), false,
                                 static_cast<int>(grid.local_rank_of(p.root()))));
  if (root && grid.ranks_per_node == 1) p.copy(mine, p.output(), p.count());
}

void allreduce(planner& p) {
  const lane_share grid(p);
  const int self = static_cast<int>(grid.local_rank);
  const area target = p.output() + grid.begin;
  area mine = p.operand();
  if (grid.ranks_per_node > 1) mine = p.requested().in_place ? p.scratch(grid.count) : target;
  p.call_if(grid.ranks_per_node > 1, grid.node,
            parts::reduce_scatter_blocks(grid.counts, self, p.operand(), mine));
  if (grid.nodes > 1)
    p.call_on(grid.lane, parts::call_of(collective::allreduce, mine, target, grid.count));
  else
    p.copy(mine, target, grid.count);
  p.call_if(grid.ranks_per_node > 1, grid.node,
            parts::gather_blocks(true, grid.counts, self, target, p.output(), true));
}

void reduce_scatter_block(planner& p) {
  const lane_share grid(p);
  const std::size_t n = p.count();
  const parts::block_order order(grid.lane_by_lane(), n);
  const area packed = p.scratch(order.total);
  parts::copy_blocks(p, order, packed, p.operand(), parts::uniform_displs(p.size(), n), false);
  area mine = packed;
  if (grid.ranks_per_node > 1) mine = grid.nodes > 1 ? p.scratch(grid.nodes * n) : p.output();
  p.call_if(grid.ranks_per_node > 1, grid.node,
            parts::call_of(collective::reduce_scatter_block, packed, mine, grid.nodes * n));
  if (grid.nodes > 1)
    p.call_on(grid.lane, parts::call_of(collective::reduce_scatter_block, mine, p.output(), n));
  else
    p.copy(mine, p.output(), n);
}

}  // namespace

void plan(planner& p) {
  parts::write_plan(p, {{collective::bcast, bcast},
                        {collective::reduce, reduce},
                        {collective::allreduce, allreduce},
                        {collective::reduce_scatter_block, reduce_scatter_block}});
}

}  // namespace tutti::compositions::multi_lane
