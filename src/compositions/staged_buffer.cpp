// SPDX-License-Identifier: Apache-2.0
//
// barrier/staged_buffer, bcast/staged_buffer, reduce/staged_buffer, allreduce/staged_buffer,
//   gather/staged_buffer, gatherv/staged_buffer, scatter/staged_buffer, scatterv/staged_buffer,
//   allgather/staged_buffer, allgatherv/staged_buffer, alltoall/staged_buffer,
//   alltoallv/staged_buffer, alltoallw/staged_buffer, reduce_scatter/staged_buffer,
//   reduce_scatter_block/staged_buffer, scan/staged_buffer, exscan/staged_buffer
//
// Copies the operands into one dense area of scratch memory, performs the same collective there,
// and copies the result to its destination.
//
// Source:       MPICH (compositions for device and derived-type buffers)
// Calls:        the same collective on the same ranks, of dense buffers
// Good for:     memory that the network cannot access, or blocks scattered over a large buffer
#include <numeric>

#include "compositions/parts/block_order.hpp"
#include "compositions/parts/common_calls.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::staged_buffer {

namespace {

// The blocks of all ranks in the caller's buffer, and without gaps in scratch memory.
struct staged {
  parts::block_order order;
  std::vector<std::size_t> displs;
  area dense;

  staged(planner& p, std::vector<std::size_t> counts, std::vector<std::size_t> where)
      : order(parts::in_order(p.size()), std::move(counts)),
        displs(std::move(where)),
        dense(p.scratch(order.total)) {}
  staged(planner& p, const counts_view& counts, const counts_view& where)
      : staged(p, parts::vector_of(counts, p.size()), parts::vector_of(where, p.size())) {}

  void pack(planner& p, area table) const { parts::copy_blocks(p, order, dense, table, displs, false); }
  void unpack(planner& p, area table) const { parts::copy_blocks(p, order, dense, table, displs, true); }
};

staged blocks_of(planner& p) {
  return {p, parts::uniform_counts(p.size(), p.count()), parts::uniform_displs(p.size(), p.count())};
}

// Collectives whose operand and result are one vector of count elements.
void vectors(planner& p) {
  const std::size_t n = p.count();
  const bool root = p.rank() == p.root(), bcast = p.what() == collective::bcast;
  const area data = p.scratch(n);
  if (!bcast || root) p.copy(p.operand(), data, n);
  subcall c = parts::call_of(p.what(), data, data, n, p.root());
  if (p.what() == collective::reduce) c.in_place = root;
  p.call_on(p.all(), c);
  const bool receives = bcast                            ? !root
                        : p.what() == collective::reduce ? root
                        : p.what() == collective::exscan ? p.rank() != 0
                                                         : true;
  if (receives) p.copy(data, p.output(), n);
}

void gather(planner& p) {
  const bool uneven = is_vector_form(p.what()),
             everywhere = p.what() == collective::allgather || p.what() == collective::allgatherv;
  const bool receives = everywhere || p.rank() == p.root();
  const std::size_t n =
      uneven && receives ? p.requested().out_counts[static_cast<std::size_t>(p.rank())] : p.count();
  const area mine = p.scratch(n);
  area operand = p.operand();
  if (uneven && receives && p.requested().in_place)
    operand = operand + p.requested().out_displs[static_cast<std::size_t>(p.rank())];
  p.copy(operand, mine, n);
  subcall c = parts::call_of(p.what(), mine, mine, n, p.root());
  c.in_place = false;
  if (!receives) return p.call_on(p.all(), c);
  const staged all = uneven ? staged(p, p.requested().out_counts, p.requested().out_displs) : blocks_of(p);
  c.output = all.dense;
  if (uneven) {
    c.out_counts = all.order.counts;
    c.out_displs = all.order.begins;
  }
  p.call_on(p.all(), c);
  all.unpack(p, p.output());
}

void scatter(planner& p) {
  const bool uneven = p.what() == collective::scatterv, root = p.rank() == p.root();
  const std::size_t n =
      uneven && root ? p.requested().in_counts[static_cast<std::size_t>(p.rank())] : p.count();
  const area mine = p.scratch(n);
  subcall c = parts::call_of(p.what(), {}, mine, n, p.root());
  c.in_place = false;
  if (root) {
    const staged all = uneven ? staged(p, p.requested().in_counts, p.requested().in_displs) : blocks_of(p);
    all.pack(p, p.input());
    c.input = all.dense;
    if (uneven) {
      c.in_counts = all.order.counts;
      c.in_displs = all.order.begins;
    }
  }
  p.call_on(p.all(), c);
  if (!root || !p.requested().in_place) p.copy(mine, p.output(), n);
}

void exchange(planner& p) {
  const call& requested = p.requested();
  const bool uneven = p.what() != collective::alltoall;
  const staged result = uneven ? staged(p, requested.out_counts, requested.out_displs) : blocks_of(p);
  const staged operands = !uneven || requested.in_place ? staged(p, result.order.counts, result.displs)
                                                        : staged(p, requested.in_counts, requested.in_displs);
  operands.pack(p, p.operand());
  subcall c = parts::call_of(p.what(), operands.dense, result.dense, p.count());
  c.in_place = false;
  if (uneven) {
    c.count = 0;
    c.in_counts = operands.order.counts;
    c.in_displs = operands.order.begins;
    c.out_counts = result.order.counts;
    c.out_displs = result.order.begins;
  }
  p.call_on(p.all(), c);
  result.unpack(p, p.output());
}

void reduce_scatter(planner& p) {
  const auto counts = p.what() == collective::reduce_scatter
                          ? parts::vector_of(p.requested().in_counts, p.size())
                          : parts::uniform_counts(p.size(), p.count());
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const std::size_t own = counts[static_cast<std::size_t>(p.rank())];
  const area operands = p.scratch(total), result = p.scratch(own);
  p.copy(p.operand(), operands, total);
  subcall c = parts::call_of(p.what(), operands, result, own);
  c.in_place = false;
  if (p.what() == collective::reduce_scatter) {
    c.in_counts = c.out_counts = counts;
    c.in_displs = c.out_displs = parts::dense_displs(counts);
  }
  p.call_on(p.all(), c);
  p.copy(result, p.output(), own);
}

}  // namespace

void plan(planner& p) {
  switch (p.what()) {
    case collective::barrier:
      return p.call_on(p.all(), parts::barrier());
    case collective::gather:
    case collective::gatherv:
    case collective::allgather:
    case collective::allgatherv:
      return gather(p);
    case collective::scatter:
    case collective::scatterv:
      return scatter(p);
    case collective::alltoall:
    case collective::alltoallv:
    case collective::alltoallw:
      return exchange(p);
    case collective::reduce_scatter:
    case collective::reduce_scatter_block:
      return reduce_scatter(p);
    default:
      return vectors(p);
  }
}

}  // namespace tutti::compositions::staged_buffer
