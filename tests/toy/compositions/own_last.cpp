// SPDX-License-Identifier: Apache-2.0
//
// scan/own_last
//
// A toy: an exscan of the ranks before this one, and the own operand last; segment after segment.
//
// Source:       folklore
// Restrictions: not_in_place
// Parameters:   segment = 65536 in 1..1073741824: bytes of one call
// Calls:        exscan on the same ranks, a segment each
// Good for:     tests
#include "compositions/parts/segments.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::own_last {

void plan(planner& p) {
  const subgroup all = p.all();
  const parts::segments cut(p);
  for (std::size_t i = 0; i < cut.count(); ++i) {
    const area own = p.input() + cut.begin(i), sum = p.output() + cut.begin(i);
    subcall before;
    before.what = collective::exscan;
    before.count = cut.length(i);
    before.input = own;
    before.output = sum;
    p.call_on(all, before);
    if (p.rank() == 0)
      p.copy(own, sum, cut.length(i));
    else
      p.combine(sum, own, sum, cut.length(i));
  }
}

}  // namespace tutti::compositions::own_last
