// SPDX-License-Identifier: Apache-2.0
//
// Nodes of decision trees, cut to a part of the calls and made as small as they can be.
#pragma once

#include <array>
#include <cstdint>

#include "selection/quantity_values.hpp"
#include "selection/tree.hpp"

namespace tutti::tuning {

bool same(const leaf& a, const leaf& b) noexcept;
bool same(const tree_node& a, const tree_node& b) noexcept;

/// From `least` to `most` of each quantity.
struct interval {
  std::uint64_t least = 0, most = tree_step::open;
};
using intervals = std::array<interval, quantity_count>;

/// What of a node serves calls within the intervals: steps that none of them reaches are gone.
tree_node restricted(const tree_node& n, intervals within);

/// The node without the steps that no call of the collective reaches for which `when` holds.
tree_node reachable(const tree_node& n, collective what, const literals& when, value_ranges within);

/// A node of steps. Steps within a step that divide the same quantity take its place, neighbours that choose
/// alike are one, and a single step is what it chooses.
tree_node joined(quantity by, std::vector<tree_step> steps);

/// Everything that the leaves of a node demand.
void add_demands(const tree_node& n, literals& all);

}  // namespace tutti::tuning
