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
#include "compositions/parts/calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_lane_blocks {

namespace {

int as_place(std::size_t i) { return static_cast<int>(i); }

void gather(planner& p) {
  const parts::lanes s(p);
  const std::size_t n = p.count(), of_lane = s.nodes * n;
  const parts::block_order order(s.lane_by_lane(), n);
  const bool root = p.rank() == p.root(), near = s.node_of(p.root()) == s.own_node;
  const area all = root && order.plain ? p.output() : p.scratch(root ? order.total : 0);
  const area lane_in_all = all + s.place * of_lane, own = lane_in_all + s.own_node * n;
  area mine = p.operand();
  if (s.nodes > 1) {
    // The root gathers its lane into its final position; the other ranks of its node use scratch
    // memory.
    const area lane = root ? lane_in_all : p.scratch(near ? of_lane : 0);
    subcall c = parts::call_of(collective::gather, mine, lane, n, as_place(s.node_of(p.root())));
    c.in_place = root && mine == own;
    if (c.in_place) c.input = lane;
    p.call_on(s.lane, c);
    mine = lane;
  }
  subcall c = parts::call_of(collective::gather, mine, all, of_lane, as_place(s.place_of(p.root())));
  c.in_place = root && mine == lane_in_all;
  p.call_if(near && s.width > 1, s.node, c);
  if (!root) return;
  if (p.size() == 1)
    p.copy(mine, p.output(), n);
  else if (!order.plain)
    parts::copy_blocks(p, order, all, p.output(), parts::uniform_displs(p.size(), n), true);
}

void scatter(planner& p) {
  const parts::lanes s(p);
  const std::size_t n = p.count(), of_lane = s.nodes * n;
  const parts::block_order order(s.lane_by_lane(), n);
  const bool root = p.rank() == p.root(), near = s.node_of(p.root()) == s.own_node;
  area all = p.input();
  if (root && !order.plain) {
    all = p.scratch(order.total);
    parts::copy_blocks(p, order, all, p.input(), parts::uniform_displs(p.size(), n), false);
  }
  area mine = p.output();
  if (root)
    mine = all + s.place * of_lane;
  else if (near && s.nodes > 1)
    mine = p.scratch(of_lane);
  subcall c = parts::call_of(collective::scatter, all, mine, of_lane, as_place(s.place_of(p.root())));
  c.in_place = root;
  p.call_if(near && s.width > 1, s.node, c);
  if (s.nodes > 1) {
    c = parts::call_of(collective::scatter, mine, p.output(), n, as_place(s.node_of(p.root())));
    c.in_place = root && p.requested().in_place;
    p.call_on(s.lane, c);
  } else if (root && !p.requested().in_place) {
    p.copy(mine + s.own_node * n, p.output(), n);
  }
}

void allgather(planner& p) {
  const parts::lanes s(p);
  const std::size_t n = p.count(), of_lane = s.nodes * n;
  const parts::block_order order(s.lane_by_lane(), n);
  const area all = order.plain ? p.output() : p.scratch(order.total), lane = all + s.place * of_lane;
  const area own = lane + s.own_node * n;
  // In a lane, all ranks gather in place or none does: a rank copies its block to its position
  // first.
  p.copy(p.operand(), own, n);
  p.call_if(s.nodes > 1, s.lane, parts::call_of(collective::allgather, lane, lane, n));
  p.call_if(s.width > 1, s.node, parts::call_of(collective::allgather, all, all, of_lane));
  if (!order.plain) parts::copy_blocks(p, order, all, p.output(), parts::uniform_displs(p.size(), n), true);
}

// Each rank first sends its node neighbours the blocks for their lanes; then the lanes exchange.
void alltoall(planner& p) {
  const parts::lanes s(p);
  const std::size_t n = p.count();
  const parts::block_order by_lane(s.lane_by_lane(), n);
  const parts::block_order by_node(s.node_by_node(), n);
  area mine = p.scratch(by_lane.total);
  parts::copy_blocks(p, by_lane, mine, p.operand(), parts::uniform_displs(p.size(), n), false);
  const auto exchange = [&](const subgroup& group, std::size_t count, area to) {
    p.call_on(group, parts::call_of(collective::alltoall, mine, to, count));
    mine = to;
  };
  if (s.width > 1) exchange(s.node, s.nodes * n, p.scratch(by_lane.total));
  if (s.width > 1 && s.nodes > 1) {
    const area turned = p.scratch(by_lane.total);
    for (std::size_t i = 0; i < s.width; ++i) {
      copying c;
      c.from = mine + i * s.nodes * n;
      c.to = turned + i * n;
      c.n = n;
      c.blocks = n == 0 ? 0 : s.nodes;
      c.from_distance = n;
      c.to_distance = s.width * n;
      p.copy(c);
    }
    mine = turned;
  }
  if (s.nodes > 1) exchange(s.lane, s.width * n, by_node.plain ? p.output() : p.scratch(by_lane.total));
  if (mine == p.output()) return;
  parts::copy_blocks(p, by_node, mine, p.output(), parts::uniform_displs(p.size(), n), true);
}

}  // namespace

void plan(planner& p) {
  switch (p.what()) {
    case collective::gather:
      return gather(p);
    case collective::scatter:
      return scatter(p);
    case collective::allgather:
      return allgather(p);
    default:
      return alltoall(p);
  }
}

}  // namespace tutti::compositions::multi_lane_blocks
