// SPDX-License-Identifier: Apache-2.0
//
// The first half of a broadcast of a long vector. It scatters the blocks (partition::split) over a
// binomial tree with root position 0. Each block goes to its final position in the vector.
// Afterwards position v holds the blocks of its subtree: v and those behind it. Position 0 sends
// from the input and never writes. Each rank serves one child at a time, because children in the
// same round would share the bandwidth of a link, and the deepest one would wait for the others.
#pragma once

#include "schedule/builder.hpp"
#include "schedule/patterns/knomial.hpp"

namespace tutti::parts {

/// The number of blocks that position v of n holds afterwards, from block v on.
constexpr int scattered_blocks(int v, int n) { return patterns::knomial_subtree(v, n, 2); }

template <class RankAt>
void scatter_split(builder& b, int v, int n, RankAt rank_at) {
  if (v != 0)
    b.recv(rank_at(patterns::knomial_parent(v, n, 2)),
           blocks(buffer::output, v, scattered_blocks(v, n), partition::split));
  b.round();
  const buffer data = v == 0 ? buffer::input : buffer::output;
  patterns::for_each_knomial_child_down(v, n, 2, [&](int child) {
    b.send(rank_at(child), blocks(data, child, scattered_blocks(child, n), partition::split));
    b.round();
  });
}

}  // namespace tutti::parts
