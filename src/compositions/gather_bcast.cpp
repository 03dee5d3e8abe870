// SPDX-License-Identifier: Apache-2.0
//
// allgather/gather_bcast
//
// Rank 0 gathers all blocks and broadcasts them. It is a mock-up for the performance guidelines: an
// allgather should never be slower.
//
// Source:       Traff, Gropp, Thakur 2010 (self-consistent performance guidelines)
// Calls:        gather to rank 0, bcast from it
// Good for:     engines whose native allgather is slower than its parts
#include "compositions/parts/common_calls.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::gather_bcast {

void plan(planner& p) {
  const subgroup all = p.all();
  subcall gather = parts::call_of(collective::gather, p.operand(), p.output(), p.count());
  gather.in_place = p.requested().in_place && p.rank() == 0;
  p.call_on(all, gather);
  p.call_on(all, parts::bcast(p.output(), p.count() * static_cast<std::size_t>(p.size()), 0));
}

}  // namespace tutti::compositions::gather_bcast
