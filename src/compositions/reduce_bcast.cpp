// SPDX-License-Identifier: Apache-2.0
//
// allreduce/reduce_bcast
//
// Reduces to rank 0, which broadcasts the result. It is a mock-up for the performance guidelines:
// an allreduce should never be slower.
//
// Source:       Traff, Gropp, Thakur 2010 (self-consistent performance guidelines)
// Calls:        reduce to rank 0, bcast from it
// Good for:     engines whose native allreduce is slower than its parts
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
