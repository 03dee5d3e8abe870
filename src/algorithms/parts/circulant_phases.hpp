// SPDX-License-Identifier: Apache-2.0
//
// The rounds in which n blocks of a vector flow from rank 0 over a circulant graph, or towards it when they
// are taken backwards. All phases but the last are one loop; the last is written out, since only there blocks
// beyond the end stand for the last one.
#pragma once

#include <algorithm>

#include "schedule/builder.hpp"
#include "schedule/patterns/circulant.hpp"

namespace tutti::parts {

enum class flow { from_root, to_root };

/// Calls round(k, last, at_block) for every round of a phase: at_block(v) is where entry v of a schedule of
/// patterns::circulant stands, to be named as piece(vector, at_block(v), n), which leaves out what is
/// negative. In the last phase no v counts for more than 0.
template <class Round>
void circulant_phases(builder& b, const patterns::circulant& c, int n, flow direction, Round round) {
  const int q = c.phase(), loops = c.phases(n) - 1, idle = c.idle(n);
  const bool back = direction == flow::to_root;
  const auto phase = [&](bool last, auto at_block) {
    for (int i = 0; i < q; ++i) {
      round(back ? q - 1 - i : i, last, at_block);
      b.round();
    }
  };
  const auto last = [&] { phase(true, [&](int v) { return index{n - 1 + std::min(v, 0)}; }); };
  if (q > 0 && back) last();
  if (loops > 0)
    b.loop(loops, [&] {
      phase(false, [&](int v) { return back ? at(v - idle + (loops - 1) * q, -q) : at(v - idle, q); });
    });
  if (q > 0 && !back) last();
}

}  // namespace tutti::parts
