// SPDX-License-Identifier: Apache-2.0
//
// gather/multi_lane, scatter/multi_lane, allgather/multi_lane, alltoall/multi_lane
//
// All ranks with the same position on their nodes form a lane. Blocks travel between nodes within
// the lanes, and within a node between its ranks. So every rank uses the network. Copies reorder
// the blocks between the two phases.
//
// Source:       Traff, Hunold 2020 (full-lane decompositions)
// Restrictions: equal_nodes
// Calls:        the same collective in the lanes and in the node, of several blocks
// Good for:     long blocks if one core cannot saturate the network; short blocks of an alltoall on
//                 many nodes
#include "compositions/parts/block_order.hpp"
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "compositions/parts/write_plan.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_lane_blocks {

namespace {

int to_int(std::size_t i) { return static_cast<int>(i); }

void gather(planner& p) {
  const parts::lane_grid grid(p);
  const std::size_t n = p.count(), lane_size = grid.nodes * n;
  const parts::block_order order(grid.lane_by_lane(), n);
  const bool root = p.rank() == p.root(), on_root_node = grid.node_index_of(p.root()) == grid.node_index;
  const area all = root && order.rank_order ? p.output() : p.scratch(root ? order.total : 0);
  const area lane_in_all = all + grid.local_rank * lane_size, own = lane_in_all + grid.node_index * n;
  area mine = p.operand();
  if (grid.nodes > 1) {
    // The root gathers its lane into its final position; the other ranks of its node use scratch
    // memory.
    const area lane = root ? lane_in_all : p.scratch(on_root_node ? lane_size : 0);
    subcall c = parts::call_of(collective::gather, mine, lane, n, to_int(grid.node_index_of(p.root())));
    c.in_place = root && mine == own;
    if (c.in_place) c.input = lane;
    p.call_on(grid.lane, c);
    mine = lane;
  }
  subcall c = parts::call_of(collective::gather, mine, all, lane_size, to_int(grid.local_rank_of(p.root())));
  c.in_place = root && mine == lane_in_all;
  p.call_if(on_root_node && grid.ranks_per_node > 1, grid.node, c);
  if (!root) return;
  if (p.size() == 1)
    p.copy(mine, p.output(), n);
  else if (!order.rank_order)
    parts::copy_blocks(p, order, all, p.output(), parts::uniform_displs(p.size(), n), true);
}

void scatter(planner& p) {
  const parts::lane_grid grid(p);
  const std::size_t n = p.count(), lane_size = grid.nodes * n;
  const parts::block_order order(grid.lane_by_lane(), n);
  const bool root = p.rank() == p.root(), on_root_node = grid.node_index_of(p.root()) == grid.node_index;
  area all = p.input();
  if (root && !order.rank_order) {
    all = p.scratch(order.total);
    parts::copy_blocks(p, order, all, p.input(), parts::uniform_displs(p.size(), n), false);
  }
  area mine = p.output();
  if (root)
    mine = all + grid.local_rank * lane_size;
  else if (on_root_node && grid.nodes > 1)
    mine = p.scratch(lane_size);
  subcall c = parts::call_of(collective::scatter, all, mine, lane_size, to_int(grid.local_rank_of(p.root())));
  c.in_place = root;
  p.call_if(on_root_node && grid.ranks_per_node > 1, grid.node, c);
  if (grid.nodes > 1) {
    c = parts::call_of(collective::scatter, mine, p.output(), n, to_int(grid.node_index_of(p.root())));
    c.in_place = root && p.requested().in_place;
    p.call_on(grid.lane, c);
  } else if (root && !p.requested().in_place) {
    p.copy(mine + grid.node_index * n, p.output(), n);
  }
}

void allgather(planner& p) {
  const parts::lane_grid grid(p);
  const std::size_t n = p.count(), lane_size = grid.nodes * n;
  const parts::block_order order(grid.lane_by_lane(), n);
  const area all = order.rank_order ? p.output() : p.scratch(order.total);
  const area lane = all + grid.local_rank * lane_size;
  const area own = lane + grid.node_index * n;
  // In a lane, all ranks gather in place or none does: a rank copies its block to its position
  // first.
  p.copy(p.operand(), own, n);
  p.call_if(grid.nodes > 1, grid.lane, parts::call_of(collective::allgather, lane, lane, n));
  p.call_if(grid.ranks_per_node > 1, grid.node, parts::call_of(collective::allgather, all, all, lane_size));
  if (!order.rank_order)
    parts::copy_blocks(p, order, all, p.output(), parts::uniform_displs(p.size(), n), true);
}

// Each rank first sends its node neighbors the blocks for their lanes; then the lanes exchange.
void alltoall(planner& p) {
  const parts::lane_grid grid(p);
  const std::size_t n = p.count();
  const parts::block_order by_lane(grid.lane_by_lane(), n);
  const parts::block_order by_node(grid.node_by_node(), n);
  area mine = p.scratch(by_lane.total);
  parts::copy_blocks(p, by_lane, mine, p.operand(), parts::uniform_displs(p.size(), n), false);
  const auto exchange = [&](const subgroup& group, std::size_t count, area to) {
    p.call_on(group, parts::call_of(collective::alltoall, mine, to, count));
    mine = to;
  };
  if (grid.ranks_per_node > 1) exchange(grid.node, grid.nodes * n, p.scratch(by_lane.total));
  if (grid.ranks_per_node > 1 && grid.nodes > 1) {
    const area reordered = p.scratch(by_lane.total);
    for (std::size_t i = 0; i < grid.ranks_per_node; ++i) {
      copy_step c;
      c.from = mine + i * grid.nodes * n;
      c.to = reordered + i * n;
      c.n = n;
      c.blocks = n == 0 ? 0 : grid.nodes;
      c.from_distance = n;
      c.to_distance = grid.ranks_per_node * n;
      p.copy(c);
    }
    mine = reordered;
  }
  if (grid.nodes > 1)
    exchange(grid.lane, grid.ranks_per_node * n, by_node.rank_order ? p.output() : p.scratch(by_lane.total));
  if (mine == p.output()) return;
  parts::copy_blocks(p, by_node, mine, p.output(), parts::uniform_displs(p.size(), n), true);
}

}  // namespace

void plan(planner& p) {
  parts::write_plan(p, {{collective::gather, gather},
                        {collective::scatter, scatter},
                        {collective::allgather, allgather},
                        {collective::alltoall, alltoall}});
}

}  // namespace tutti::compositions::multi_lane_blocks
