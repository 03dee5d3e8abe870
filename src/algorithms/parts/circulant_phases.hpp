// SPDX-License-Identifier: Apache-2.0
//
// Writes the rounds in which n blocks of a vector travel from rank 0 over a circulant graph, or, in
// reverse order, towards it. All phases except the last are one loop. The last one is written
// separately, because only there blocks beyond the end represent the last block.
#pragma once

#include <algorithm>

#include "schedule/builder.hpp"
#include "schedule/patterns/circulant.hpp"

namespace tutti::parts {

enum class tree_direction { from_root, to_root };

/// Calls round(k, last, at_block) for every round of a phase. at_block(v) is the index of entry v
/// of a schedule of patterns::circulant. It must be used in piece(vector, at_block(v), n), which
/// omits negative indices. In the last phase every v > 0 counts as 0.
template <class Round>
void circulant_phases(builder& b, const patterns::circulant& c, int n, tree_direction direction,
                      Round round) {
  const int q = c.phase(), loops = c.phases(n) - 1, idle = c.idle(n);
  const bool reverse = direction == tree_direction::to_root;
  const auto phase = [&](bool last, auto at_block) {
    for (int i = 0; i < q; ++i) {
      round(reverse ? q - 1 - i : i, last, at_block);
      b.round();
    }
  };
  const auto last = [&] { phase(true, [&](int v) { return index{n - 1 + std::min(v, 0)}; }); };
  if (q > 0 && reverse) last();
  if (loops > 0)
    b.loop(loops, [&] {
      phase(false, [&](int v) { return reverse ? at(v - idle + (loops - 1) * q, -q) : at(v - idle, q); });
    });
  if (q > 0 && !reverse) last();
}

}  // namespace tutti::parts
