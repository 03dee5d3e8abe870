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
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::multi_lane {

namespace {

struct share : parts::lanes {
  std::vector<std::size_t> counts, begins;
  std::size_t count, begin;
  explicit share(planner& p)
      : lanes(p),
        counts(parts::split(p.count(), width)),
        begins(parts::dense_displs(counts)),
        count(counts[position]),
        begin(begins[position]) {}
};

void bcast(planner& p) {
  const share s(p);
  const bool root = p.rank() == p.root(), on_root_node = s.node_of(p.root()) == s.local_node;
  const int self = static_cast<int>(s.position), from = static_cast<int>(s.position_of(p.root()));
  const area data = root ? p.operand() : p.output();
  // On the root's node the parts go to scratch memory: no call may write to the root's data.
  const bool scatters = on_root_node && s.width > 1;
  const area part = scatters && !root ? p.scratch(s.count) : data + s.begin;
  p.call_if(scatters, s.node, parts::scatter_blocks(s.counts, self, data, part, root, from));
  p.call_if(s.nodes > 1, s.lane, parts::bcast(part, s.count, static_cast<int>(s.node_of(p.root()))));
  const area result = root && scatters ? p.scratch(p.count()) : p.output();
  p.call_if(s.width > 1, s.node, parts::gather_blocks(true, s.counts, self, part, result, !on_root_node));
}

void reduce(planner& p) {
  const share s(p);
  const bool root = p.rank() == p.root(), on_root_node = s.node_of(p.root()) == s.local_node;
  const int self = static_cast<int>(s.position);
  area mine = p.operand();
  if (s.width > 1) mine = p.scratch(s.count);
  p.call_if(s.width > 1, s.node, parts::reduce_scatter_blocks(s.counts, self, p.operand(), mine));
  if (s.nodes > 1) {
    const area sum = p.scratch(on_root_node ? s.count : 0);
    p.call_on(s.lane, parts::reduce(mine, sum, on_root_node, s.count, static_cast<int>(s.node_of(p.root()))));
    mine = sum;
  }
  p.call_if(on_root_node && s.width > 1, s.node,
            parts::gather_blocks(false, s.counts, self, mine, p.output(), false,
                                 static_cast<int>(s.position_of(p.root()))));
  if (root && s.width == 1) p.copy(mine, p.output(), p.count());
}

void allreduce(planner& p) {
  const share s(p);
  const int self = static_cast<int>(s.position);
  const area target = p.output() + s.begin;
  area mine = p.operand();
  if (s.width > 1) mine = p.requested().in_place ? p.scratch(s.count) : target;
  p.call_if(s.width > 1, s.node, parts::reduce_scatter_blocks(s.counts, self, p.operand(), mine));
  if (s.nodes > 1)
    p.call_on(s.lane, parts::call_of(collective::allreduce, mine, target, s.count));
  else
    p.copy(mine, target, s.count);
  p.call_if(s.width > 1, s.node, parts::gather_blocks(true, s.counts, self, target, p.output(), true));
}

void reduce_scatter_block(planner& p) {
  const share s(p);
  const std::size_t n = p.count();
  const parts::block_order order(s.lane_by_lane(), n);
  const area packed = p.scratch(order.total);
  parts::copy_blocks(p, order, packed, p.operand(), parts::uniform_displs(p.size(), n), false);
  area mine = packed;
  if (s.width > 1) mine = s.nodes > 1 ? p.scratch(s.nodes * n) : p.output();
  p.call_if(s.width > 1, s.node, parts::call_of(collective::reduce_scatter_block, packed, mine, s.nodes * n));
  if (s.nodes > 1)
    p.call_on(s.lane, parts::call_of(collective::reduce_scatter_block, mine, p.output(), n));
  else
    p.copy(mine, p.output(), n);
}

}  // namespace

void plan(planner& p) {
  switch (p.what()) {
    case collective::bcast:
      return bcast(p);
    case collective::reduce:
      return reduce(p);
    case collective::allreduce:
      return allreduce(p);
    default:
      return reduce_scatter_block(p);
  }
}

}  // namespace tutti::compositions::multi_lane
