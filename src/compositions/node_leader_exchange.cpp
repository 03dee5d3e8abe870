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
#include "compositions/parts/common_calls.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::node_leader_exchange {

namespace {

// A leader's buffers: one row of all ranks' blocks for each rank of its node, and one packed
// message per node.
struct leader_data {
  std::vector<std::vector<int>> members;  ///< ranks of each node
  std::size_t local_node;                 ///< index of this rank's node
  std::size_t n;                          ///< elements of a block
  std::size_t rows() const { return members[local_node].size(); }
};

// Copies between the rows of the local node's ranks (blocks in rank order) and the packed messages.
// A packed message contains one block for each pair of a local rank and a rank of the other node.
// If `sent` is true, the copy packs blocks that the owner of the row sends. Otherwise it unpacks
// blocks that the owner receives.
void copy_rows(planner& p, const leader_data& l, area rows, area messages, bool sent) {
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
      const area row = rows + i * ranks * l.n, message = messages + (before + (sent ? i * width : i)) * l.n;
      copy_step c;
      c.n = l.n;
      for (std::size_t j = 0; j < width; j += c.blocks) {
        const area in_row = row + static_cast<std::size_t>(theirs[j]) * l.n,
                   in_message = message + j * next * l.n;
        c.blocks = regular ? width : 1;
        c.from = sent ? in_row : in_message;
        c.to = sent ? in_message : in_row;
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
  const hierarchy& topology = p.topology();
  leader_data l;
  for (int node = 0; node < topology.nodes(); ++node) {
    const auto ranks = topology.members(node);
    l.members.emplace_back(ranks.begin(), ranks.end());
  }
  l.local_node = static_cast<std::size_t>(topology.node_of(p.rank()));
  l.n = p.count();
  const std::size_t all = static_cast<std::size_t>(p.size()) * l.n;
  std::vector<int> leader_ranks;
  for (const auto& one : l.members) leader_ranks.push_back(one[0]);
  const subgroup node = p.node(), leaders = p.list(leader_ranks);
  const bool is_leader = leaders.member(), alone = l.rows() == 1;
  if (topology.nodes() == 1) {
    p.call_on(p.all(), parts::call_of(collective::alltoall, p.operand(), p.output(), l.n));
    return;
  }

  const std::size_t row_elements = is_leader ? l.rows() * all : 0;
  area rows = p.operand();
  if (!alone) rows = p.scratch(row_elements);
  subcall gather = parts::call_of(collective::gather, p.operand(), rows, all);
  gather.in_place = false;
  p.call_if(!alone, node, gather);

  const area sent = p.scratch(row_elements), received = p.scratch(row_elements);
  if (is_leader) copy_rows(p, l, rows, sent, true);
  std::vector<std::size_t> lengths;
  for (const auto& one : l.members) lengths.push_back(one.size() * l.rows() * l.n);
  subcall exchange = parts::call_of(collective::alltoall, sent, received, lengths[0]);
  if (topology.ranks_per_node() == 0) {
    exchange.what = collective::alltoallv;
    exchange.count = 0;
    exchange.in_counts = exchange.out_counts = lengths;
    exchange.in_displs = exchange.out_displs = parts::dense_displs(lengths);
  }
  p.call_on(leaders, exchange);

  const area results = alone ? p.output() : rows;
  if (is_leader) copy_rows(p, l, results, received, false);
  subcall scatter = parts::call_of(collective::scatter, results, p.output(), all);
  scatter.in_place = false;
  p.call_if(!alone, node, scatter);
}

}  // namespace tutti::compositions::node_leader_exchange
