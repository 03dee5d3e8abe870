// SPDX-License-Identifier: Apache-2.0
//
// Operations on nodes of decision trees: restrict them to a part of the calls and simplify them.
#pragma once

#include <array>
#include <cstdint>

#include "selection/quantity_values.hpp"
#include "selection/tree.hpp"

namespace tutti::tuning {

using namespace tutti::detail;

bool same(const leaf& a, const leaf& b) noexcept;
bool same(const tree_node& a, const tree_node& b) noexcept;

/// The values from `min` to `max` of each quantity.
struct interval {
  std::uint64_t min = 0, max = tree_step::open;
};
using intervals = std::array<interval, quantity_count>;

/// The node for calls within the intervals, without steps that none of these calls reaches.
tree_node restricted(const tree_node& n, intervals within);

/// The node without steps that no call of the collective with `when` reaches.
tree_node reachable(const tree_node& n, collective what, const literals& when, value_ranges within);

/// Builds a simplified node. Steps within a step that compare the same quantity replace it.
/// Adjacent steps with equal content are merged. A single step is replaced by its content.
tree_node joined(quantity by, std::vector<tree_step> steps);

/// Adds the requirements of all leaves of a node to `all`.
void add_demands(const tree_node& n, literals& all);

}  // namespace tutti::tuning
