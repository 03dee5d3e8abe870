// SPDX-License-Identifier: Apache-2.0
//
// allreduce/reduce_bcast
//
// Rank 0 gets the result and sends it to all. What an allreduce may never be slower than: a mock-up for the
// performance guidelines.
//
// Source:       Traff, Gropp, Thakur 2010 (self-consistent performance guidelines)
// Calls:        reduce to rank 0, bcast from it
// Good for:     where the library's own allreduce is worse than its parts
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::reduce_bcast {

void plan(planner& p) {
  const subgroup all = p.all();
  subcall reduce;
  reduce.what = collective::reduce;
  reduce.count = p.count();
  reduce.in_place = p.requested().in_place && p.rank() == 0;
  reduce.input = p.operand();
  reduce.output = p.output();
  p.call_on(all, reduce);

  subcall bcast;
  bcast.what = collective::bcast;
  bcast.count = p.count();
  bcast.in_place = true;
  bcast.output = p.output();
  p.call_on(all, bcast);
}

}  // namespace tutti::compositions::reduce_bcast
