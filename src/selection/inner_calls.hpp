// SPDX-License-Identifier: Apache-2.0
//
// The calls that a composed one makes, as selection sees them: for the library that runs them, and for those
// who ask what would run.
#pragma once

#include <vector>

#include "base/group/hierarchy.hpp"
#include "schedule/composite/composite_plan.hpp"
#include "selection/conditions.hpp"

namespace tutti {

/// Call `sub` of a program of `c`, on those of all ranks (none: on all) who lie as `layout` says. `whole` is
/// the situation of `c`; `offers` says whether the engine has a collective of its own for a signature
/// (native_offer).
///
/// Only calls on all ranks may be the engine's own, and of a nonblocking `c` only the first: the engine
/// matches them by their order, and others come in another order on every rank.
template <class Offers>
selection_context inner_selection_context(const selection_context& whole, const call& c, const subcall& sub,
                                          const std::vector<int>& ranks, const hierarchy& layout,
                                          bool blocking, const Offers& offers) {
  call sample;
  sample.what = sub.what;
  sample.in_place = sub.in_place;
  sample.root = sub.root;
  sample.type = c.type;
  sample.count = sub.count;
  sample.op = c.op;
  sample.out_counts = {sub.out_counts.data(), sub.out_counts.size()};
  selection_context s = whole;
  s.call = agreed_part(sample, ranks.empty() ? whole.call.ranks : static_cast<int>(ranks.size()));
  if (!ranks.empty()) {
    s.lie_on(layout.restricted_to(ranks));
    s.whole_job = false;
  }
  s.offer(sub.group == 0 && (blocking || sub.number == 0) ? offers(s.call) : native_offer::none);
  return s;
}

}  // namespace tutti
