// SPDX-License-Identifier: Apache-2.0
//
// allgatherv/gatherv_bcast
//
// Rank 0 gathers all blocks without gaps and broadcasts them; each rank copies them to its
// displacements. It is a mock-up for the performance guidelines: an allgatherv should never be
// slower.
//
// Source:       Traff, Gropp, Thakur 2010 (self-consistent performance guidelines)
// Calls:        gatherv to rank 0, bcast from it
// Good for:     engines whose native allgatherv is slower than its parts
#include "compositions/parts/block_order.hpp"
#include "compositions/parts/common_calls.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::gatherv_bcast {

void plan(planner& p) {
  const subgroup all = p.all();
  const auto displs = parts::vector_of(p.requested().out_displs, p.size());
  const parts::block_order order(parts::in_order(p.size()),
                                 parts::vector_of(p.requested().out_counts, p.size()));
  // Each rank decides by its own displacements whether it needs a dense scratch area: the calls are
  // the same.
  const bool direct = parts::displs_match(order, displs);
  const area dense = direct ? p.output() : p.scratch(order.total);
  area mine = p.operand();
  if (p.requested().in_place) mine = mine + displs[static_cast<std::size_t>(p.rank())];
  subcall gather;
  gather.what = collective::gatherv;
  gather.count = order.count_of(p.rank());
  gather.input = mine;
  gather.output = dense;
  if (p.rank() == 0) {
    gather.in_place = direct && p.requested().in_place;
    gather.out_counts = order.counts;
    gather.out_displs = order.begins;
  }
  p.call_on(all, gather);
  p.call_on(all, parts::bcast(dense, order.total, 0));
  if (!direct) parts::copy_blocks(p, order, dense, p.output(), displs, true);
}

}  // namespace tutti::compositions::gatherv_bcast
