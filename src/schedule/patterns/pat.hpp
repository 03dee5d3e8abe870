// SPDX-License-Identifier: Apache-2.0
//
// Parallel aggregated trees (PAT): each rank's block has its own binomial tree, shifted by that
// rank. So all trees do the same at the same time. A node is identified by its offset: the distance
// from the owner of the block up to the node's rank.
//
// The longest hops are nearest to the root 0: a node sends over hops shorter than the largest power
// of two that divides its offset. `trees_per_message` trees share one message; their blocks are
// `distance` ranks apart. A statement about offset w < `distance` also holds for w + distance, w +
// 2 * distance ... The first hops from the root reach the multiples of `distance`, each together
// with all nodes reached before.
#pragma once

#include <algorithm>
#include <bit>

namespace tutti::patterns {

struct pat {
  int ranks;
  int trees_per_message;  // maximum number of blocks in a message
  int distance;

  constexpr pat(int p, int aggregate)
      : ranks(p),
        trees_per_message(
            static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(aggregate, padded_size(p)))))),
        distance(padded_size(p) / trees_per_message) {}

  /// The number of offsets w, w + distance ... below the number of ranks.
  constexpr int count(int w) const { return w < ranks ? (ranks - 1 - w) / distance + 1 : 0; }
  /// The length of the hop from parent(w) to w, for w > 0.
  static constexpr int hop(int w) { return w & -w; }
  static constexpr int parent(int w) { return w & (w - 1); }
  /// The height of node w < distance above the leaves.
  constexpr int level(int w) const { return std::countr_zero(static_cast<unsigned>(w | distance)); }
  constexpr int height() const { return level(0); }

 private:
  static constexpr int padded_size(int p) {
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(p)));
  }
};

}  // namespace tutti::patterns
