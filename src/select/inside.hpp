// SPDX-License-Identifier: Apache-2.0
//
// The calls that a composed one makes, as selection sees them: for the library that runs them, and for those
// who ask what would run.
#pragma once

#include <vector>

#include "compose/program.hpp"
#include "group/hierarchy.hpp"
#include "select/conditions.hpp"

namespace tutti {

/// Call `sub` of a program of `c`, on those of all ranks (none: on all) who lie as `layout` says. `whole` is
/// the situation of `c`; `offers` says whether the engine has a collective of its own for a signature
/// (native_offer).
///
/// Only calls on all ranks may be the engine's own, and of a nonblocking `c` only the first: the engine
/// matches them by their order, and others come in another order on every rank.
template <class Offers>
situation situation_inside(const situation& whole, const call& c, const subcall& sub,
                           const std::vector<int>& ranks, const hierarchy& layout, bool blocking,
                           const Offers& offers) {
  call like;
  like.what = sub.what;
  like.in_place = sub.in_place;
  like.root = sub.root;
  like.type = c.type;
  like.count = sub.count;
  like.op = c.op;
  like.out_counts = {sub.out_counts.data(), sub.out_counts.size()};
  situation s = whole;
  s.call = agreed_part(like, ranks.empty() ? whole.call.ranks : static_cast<int>(ranks.size()));
  if (!ranks.empty()) {
    s.lie_on(layout.restricted_to(ranks));
    s.whole_job = false;
  }
  s.offer(sub.group == 0 && (blocking || sub.number == 0) ? offers(s.call) : native_offer::none);
  return s;
}

}  // namespace tutti
