// SPDX-License-Identifier: Apache-2.0
//
// bcast/multi_leader, reduce/multi_leader, allreduce/multi_leader
//
// The same as node_leader, but the vector is cut into parts. Each part has its own leader on every
// node, and the leaders of one part communicate only with one another. So several cores feed the
// network.
//
// Source:       Bayatpour et al. 2017 (DPML)
// Restrictions: equal_nodes, rank_order
// Parameters:   leaders = 2 in 1..64: leader ranks of a node, or all its ranks if it has fewer
// Calls:        in the node a bcast or reduce for each part, all in progress together; among a
//                 part's leaders the same collective; for the root of a reduce gather or gatherv in
//                 its node
// Good for:     long vectors if one core cannot saturate the network
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/lanes.hpp"
#include "compositions/parts/write_plan.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_leader {

namespace {

// The parts of the vector. count() and begin() describe this rank's part and are valid only if
// is_leader() is true.
struct leader_parts : parts::lane_grid {
  std::vector<std::size_t> counts, begins;
  std::size_t leaders;

  explicit leader_parts(planner& p) : lane_grid(p) {
    leaders =
        std::min<std::size_t>(std::max<std::size_t>(1, p.of(algorithm_parameter::leaders)), ranks_per_node);
    counts = parts::split(p.count(), leaders);
    begins = parts::dense_displs(counts);
  }
  bool is_leader() const { return local_rank < leaders; }
  std::size_t count() const { return counts[local_rank]; }
  std::size_t begin() const { return begins[local_rank]; }
};

// Moves each part to or from its leader, all parts at the same time.
template <class Make>
void in_node(planner& p, const leader_parts& grid, bool wanted, const Make& make) {
  std::vector<planner::request> all;
  for (std::size_t j = 0; j < grid.leaders; ++j) {
    if (wanted && grid.ranks_per_node > 1) {
      subcall c = make(j);
      c.nonblocking = true;
      all.push_back(p.start(grid.node, std::move(c)));
    } else {
      p.skip();
    }
  }
  for (const planner::request t : all) p.wait(t);
}

void call_in_lane(planner& p, const leader_parts& grid, subcall c) {
  if (grid.is_leader() && grid.nodes > 1)
    p.call_on(grid.lane, std::move(c));
  else
    p.skip();
}

void bcast(planner& p) {
  const leader_parts grid(p);
  const bool root = p.rank() == p.root(), on_root_node = grid.node_index_of(p.root()) == grid.node_index;
  const area data = root ? p.operand() : p.output();
  const auto of_part = [&](std::size_t j) {
    return parts::bcast(data + grid.begins[j], grid.counts[j],
                        static_cast<int>(on_root_node ? grid.local_rank_of(p.root()) : j));
  };
  in_node(p, grid, on_root_node, of_part);
  // Leaders other than the root receive their parts from the root in this call.
  if (grid.is_leader())
    call_in_lane(
        p, grid,
        parts::bcast(data + grid.begin(), grid.count(), static_cast<int>(grid.node_index_of(p.root()))));
  else
    p.skip();
  in_node(p, grid, !on_root_node, of_part);
}

// Reduces each part to its leader. Returns the area of this rank's part of the node's sum. Every
// node has the same number of ranks, so all leaders use their operands directly or none does.
area reduce_in_node(planner& p, const leader_parts& grid, area parts_of_leaders) {
  const area operand = p.operand();
  in_node(p, grid, true, [&](std::size_t j) {
    return parts::reduce(operand + grid.begins[j], parts_of_leaders, j == grid.local_rank, grid.counts[j],
                         static_cast<int>(j));
  });
  return grid.ranks_per_node > 1 || !grid.is_leader() ? parts_of_leaders : operand + grid.begin();
}

void reduce(planner& p) {
  const leader_parts grid(p);
  const bool root = p.rank() == p.root(), on_root_node = grid.node_index_of(p.root()) == grid.node_index;
  area mine = reduce_in_node(p, grid, p.scratch(grid.is_leader() ? grid.count() : 0));
  if (grid.is_leader() && grid.nodes > 1) {
    const area sum = on_root_node ? p.scratch(grid.count()) : area{};
    call_in_lane(
        p, grid,
        parts::reduce(mine, sum, on_root_node, grid.count(), static_cast<int>(grid.node_index_of(p.root()))));
    mine = sum;
  } else {
    p.skip();
  }
  if (on_root_node && grid.ranks_per_node > 1) {
    auto counts = grid.counts;
    counts.resize(grid.ranks_per_node, 0);
    p.call_on(grid.node,
              parts::gather_blocks(false, counts, static_cast<int>(grid.local_rank), mine, p.output(), false,
                                   static_cast<int>(grid.local_rank_of(p.root()))));
  } else {
    p.skip();
    if (root) p.copy(mine, p.output(), p.count());
  }
}

void allreduce(planner& p) {
  const leader_parts grid(p);
  // If the call is in place, other ranks' parts of the operand are still being read when this
  // rank's sum arrives.
  const bool use_scratch = grid.is_leader() && p.requested().in_place && grid.ranks_per_node > 1;
  const area target = p.output() + (grid.is_leader() ? grid.begin() : 0);
  const area mine = reduce_in_node(p, grid, use_scratch ? p.scratch(grid.count()) : target);
  if (grid.is_leader() && grid.nodes > 1)
    call_in_lane(p, grid, parts::call_of(collective::allreduce, mine, target, grid.count()));
  else
    p.skip();
  if (grid.is_leader() && grid.nodes == 1) p.copy(mine, target, grid.count());
  in_node(p, grid, true, [&](std::size_t j) {
    return parts::bcast(p.output() + grid.begins[j], grid.counts[j], static_cast<int>(j));
  });
}

}  // namespace

void plan(planner& p) {
  parts::write_plan(
      p, {{collective::bcast, bcast}, {collective::reduce, reduce}, {collective::allreduce, allreduce}});
}

}  // namespace tutti::compositions::multi_leader
