// SPDX-License-Identifier: Apache-2.0
//
// Grows the tree for the calls that one region of the base decides. grow.hpp states the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "tuning/grow.hpp"

namespace tutti::tuning {

// A point of the grid: one call. In a vector form whose counts not all ranks know, it is the calls
// of all sizes, because a tree cannot distinguish them.
struct point {
  selection_context context;
  std::uint64_t bytes;
  leaf current;
  std::vector<const cell*> cells;
};

/// The regions to insert before those of the base. `base` decides all points, and
/// `region_literals` hold for them.
std::vector<tree_region> grow_region(const tree_node& base, const literals& region_literals,
                                     std::vector<point> points, tree_half half, const rules& r);

/// The timings of a cell for one half, and the one of a choice; null if it was not timed.
const std::vector<timing>& timings(const cell& c, tree_half half) noexcept;
const timing* find(const std::vector<timing>& all, const leaf& l) noexcept;

/// The quantity by which a tree distinguishes calls of different sizes.
quantity size_of(collective what) noexcept;

/// The literals of both.
literals both(literals a, const literals& b) noexcept;

}  // namespace tutti::tuning
