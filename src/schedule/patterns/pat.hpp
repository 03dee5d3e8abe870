// SPDX-License-Identifier: Apache-2.0
//
// Parallel aggregated trees: for every rank's block a binomial tree, shifted by that rank, so that all trees
// do the same at the same time. A node of a tree is its offset, how far its rank is above the block's. Far
// hops are nearest to the root 0: a node reaches another by a hop below the power of two that divides it.
// `together` trees, whose blocks lie `distance` apart, share one message: what is said of offset w below
// `distance` holds for w + distance, w + 2 * distance ... too, and the multiples of `distance` are what the
// first hops from the root reach, each together with all that is reached already.
#pragma once

#include <algorithm>
#include <bit>

namespace tutti::patterns {

struct pat {
  int ranks;
  int together;  // blocks of one message at the most
  int distance;

  constexpr pat(int p, int aggregate)
      : ranks(p),
        together(static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(aggregate, whole_tree(p)))))),
        distance(whole_tree(p) / together) {}

  /// How many of w, w + distance ... are below the number of ranks.
  constexpr int count(int w) const { return w < ranks ? (ranks - 1 - w) / distance + 1 : 0; }
  /// The hop by which w > 0 is reached, from parent(w).
  static constexpr int hop(int w) { return w & -w; }
  static constexpr int parent(int w) { return w & (w - 1); }
  /// How far above the leaves w < distance is.
  constexpr int level(int w) const { return std::countr_zero(static_cast<unsigned>(w | distance)); }
  constexpr int height() const { return level(0); }

 private:
  static constexpr int whole_tree(int p) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(p))); }
};

}  // namespace tutti::patterns
