// SPDX-License-Identifier: Apache-2.0
//
// Computes the values that the quantities of a call can have, given the collective and some
// conditions. The reader of trees uses it to report steps that no call can reach.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "selection/conditions.hpp"

namespace tutti::detail {

struct value_range {
  std::uint64_t min = 0, max = std::numeric_limits<std::uint64_t>::max();

  bool empty() const noexcept { return min > max; }
  friend bool operator==(const value_range&, const value_range&) = default;
};
/// Indexed by quantity.
using value_ranges = std::array<value_range, quantity_count>;

/// The values of each quantity in calls of a collective for which `when` holds. A quantity that not
/// all ranks know for the collective is 0 in all its calls.
value_ranges all_values(collective what, const literals& when = {}) noexcept;

/// Returns false only if no call of the collective meets both `when` and `within`. Conditions and
/// quantities constrain each other: both describe the same ranks, nodes and elements.
bool possible(collective what, const literals& when, const value_ranges& within) noexcept;

/// States why a quantity is 0 in all calls of the collective for which `when` holds. Empty if it is
/// not.
const char* why_unknown(quantity q, collective what, const literals& when) noexcept;

}  // namespace tutti::detail
