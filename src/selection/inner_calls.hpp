// SPDX-License-Identifier: Apache-2.0
//
// Builds the selection context of inner calls, for the library that runs them and for tools that
// report what would run.
#pragma once

#include <vector>

#include "base/group/hierarchy.hpp"
#include "schedule/composite/composite_plan.hpp"
#include "selection/conditions.hpp"

namespace tutti::detail {

/// Returns the selection context of the inner call `sub` of a composite plan of `c`. It runs on
/// `ranks` (empty: all ranks), with topology `topology`. `outer` is the selection context of `c`.
/// `offers` maps a signature to a native_offer.
///
/// Only inner calls on all ranks may be native. In a nonblocking `c` this holds only for the inner
/// call with sequence number 0. The engine matches its collectives by their order, and the order of
/// other inner calls differs between ranks.
///
/// A nonblocking inner call is not native if it spans several nodes. Its composition was chosen
/// because calls that overlap are fast. Those of an MPI are not: Open MPI 4.1 takes five times as
/// long for eight MPI_Ireduce of 4 KiB as for one MPI_Reduce of 32 KiB.
template <class Offers>
selection_context inner_selection_context(const selection_context& outer, const call& c, const subcall& sub,
                                          const std::vector<int>& ranks, const hierarchy& topology,
                                          bool blocking, const Offers& offers) {
  call sample;
  sample.what = sub.what;
  sample.in_place = sub.in_place;
  sample.root = sub.root;
  sample.type = c.type;
  sample.count = sub.count;
  sample.op = c.op;
  sample.out_counts = {sub.out_counts.data(), sub.out_counts.size()};
  selection_context s = outer;
  s.call = agreed_part(sample, ranks.empty() ? outer.call.ranks : static_cast<int>(ranks.size()));
  if (!ranks.empty()) {
    s.set_topology(topology.restricted_to(ranks));
    s.whole_job = false;
  }
  const bool in_order = sub.group == 0 && (blocking || sub.sequence_number == 0);
  const bool overlaps_on_network = sub.nonblocking && s.nodes > 1;
  s.offer(in_order && !overlaps_on_network ? offers(s.call) : native_offer::none);
  return s;
}

}  // namespace tutti::detail
