// SPDX-License-Identifier: Apache-2.0
//
// For which calls two trees decide differently: exact in the conditions, and by ranges in the quantities.
#pragma once

#include <vector>

#include "selection/quantity_values.hpp"
#include "selection/tree.hpp"

namespace tutti {

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
