// SPDX-License-Identifier: Apache-2.0
//
// alltoall/node_leader
//
// The leader of a node gathers all blocks that its ranks send. The leaders exchange one message for
// each pair of nodes and scatter what they receive. Only nodes of the finest level count.
//
// Source:       Bienz, Gropp, Olson 2022 (hierarchical alltoall)
// Calls:        in the node gather, among the leaders alltoall or alltoallv, in the node scatter
// Good for:     short blocks on many nodes of several ranks
#include "compositions/parts/block_order.hpp"
#include "compositions/parts/calls.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader_exchange {

namespace {

// A leader's buffers: one row of all ranks' blocks for each rank of its node, and one packed
// message per node.
struct leading {
  std::vector<std::vector<int>> members;  ///< ranks of each node
  std::size_t own;                        ///< index of this rank's node
  std::size_t n;                          ///< elements of a block
  std::size_t rows() const { return members[own].size(); }
};

// Copies between the rows of the local node's ranks (blocks in rank order) and the packed messages.
// A packed message contains one block for each pair of a local rank and a rank of the other node.
// If `sent` is true, the copy packs blocks that the owner of the row sends. Otherwise it unpacks
// blocks that the owner receives.
void turn(planner& p, const leading& l, area rows, area parcels, bool sent) {
  const std::size_t ranks = static_cast<std::size_t>(p.size());
  std::size_t before = 0;  // blocks of the packed messages before this one
  for (const auto& theirs : l.members) {
    const std::size_t width = theirs.size();
    const auto first = static_cast<std::size_t>(theirs[0]);
    const std::size_t stride = width > 1 ? static_cast<std::size_t>(theirs[1]) - first : 1;
    bool regular = true;
    for (std::size_t j = 0; j < width; ++j)
      regular = regular && static_cast<std::size_t>(theirs[j]) == first + j * stride;
    // A message to send holds its blocks by sender (the local rank), then by receiver. So does a
    // received message, whose receivers are the local ranks.
    const std::size_t next = sent ? 1 : l.rows();
    for (std::size_t i = 0; i < l.rows(); ++i) {
      const area row = rows + i * ranks * l.n, parcel = parcels + (before + (sent ? i * width : i)) * l.n;
      copying c;
      c.n = l.n;
      for (std::size_t j = 0; j < width; j += c.blocks) {
        const area in_row = row + static_cast<std::size_t>(theirs[j]) * l.n,
                   in_package = parcel + j * next * l.n;
        c.blocks = regular ? width : 1;
        c.from = sent ? in_row : in_package;
        c.to = sent ? in_package : in_row;
        c.from_distance = (sent ? stride : next) * l.n;
        c.to_distance = (sent ? next : stride) * l.n;
        if (l.n != 0) p.copy(c);
      }
    }
    before += width * l.rows();
  }
}

}  // namespace

void plan(planner& p) {
  const hierarchy& layout = p.layout();
  leading l;
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto ranks = layout.members(node);
    l.members.emplace_back(ranks.begin(), ranks.end());
  }
  l.own = static_cast<std::size_t>(layout.node_of(p.rank()));
  l.n = p.count();
  const std::size_t all = static_cast<std::size_t>(p.size()) * l.n;
  std::vector<int> leading_ranks;
  for (const auto& one : l.members) leading_ranks.push_back(one[0]);
  const subgroup node = p.node(), leaders = p.list(leading_ranks);
  const bool leads = leaders.member(), alone = l.rows() == 1;
  if (layout.nodes() == 1) {
    p.call_on(p.all(), parts::call_of(collective::alltoall, p.operand(), p.output(), l.n));
    return;
  }

  const std::size_t whole = leads ? l.rows() * all : 0;
  area rows = p.operand();
  if (!alone) rows = p.scratch(whole);
  subcall gather = parts::call_of(collective::gather, p.operand(), rows, all);
  gather.in_place = false;
  p.call_if(!alone, node, gather);

  const area sent = p.scratch(whole), taken = p.scratch(whole);
  if (leads) turn(p, l, rows, sent, true);
  std::vector<std::size_t> lengths;
  for (const auto& one : l.members) lengths.push_back(one.size() * l.rows() * l.n);
  subcall exchange = parts::call_of(collective::alltoall, sent, taken, lengths[0]);
  if (layout.ranks_per_node() == 0) {
    exchange.what = collective::alltoallv;
    exchange.count = 0;
    exchange.in_counts = exchange.out_counts = lengths;
    exchange.in_displs = exchange.out_displs = parts::sums_before(lengths);
  }
  p.call_on(leaders, exchange);

  const area results = alone ? p.output() : rows;
  if (leads) turn(p, l, results, taken, false);
  subcall scatter = parts::call_of(collective::scatter, results, p.output(), all);
  scatter.in_place = false;
  p.call_if(!alone, node, scatter);
}

}  // namespace tutti::compositions::node_leader_exchange
