// SPDX-License-Identifier: Apache-2.0
//
// For which calls two trees decide differently: exact in the conditions, and by ranges in the quantities.
#pragma once

#include <array>
#include <vector>

#include "select/tree.hpp"

namespace tutti {

struct value_range {
  std::uint64_t least = 0, most = tree_step::open;

  bool empty() const noexcept { return least > most; }
  friend bool operator==(const value_range&, const value_range&) = default;
};
/// By quantity.
using value_ranges = std::array<value_range, quantity_count>;
/// Every value that a quantity has in calls of a collective.
value_ranges all_values(collective what) noexcept;

/// Calls that two documents decide differently.
struct difference {
  tree_half half = tree_half::pure;
  collective what = collective::barrier;
  literals when;                 ///< all of them have these
  std::vector<literals> except;  ///< and none of these
  value_ranges within;
  leaf first, second;
};

struct comparison {
  std::vector<declared_condition> conditions;  ///< that the literals name
  std::vector<difference> differences;         ///< by half and collective
};

/// Of two whole documents. Parameters count, files and lines do not. Throws std::length_error where they tell
/// too many conditions apart.
comparison compare(const document& first, const document& second);

}  // namespace tutti
