// SPDX-License-Identifier: Apache-2.0
//
// Computes for which calls two documents decide differently: exactly in the conditions, as ranges
// in the quantities.
#pragma once

#include <vector>

#include "selection/quantity_values.hpp"
#include "selection/tree.hpp"

namespace tutti::detail {

/// A set of calls that two documents decide differently.
struct difference {
  tree_half half = tree_half::pure;
  collective what = collective::barrier;
  literals when;                 ///< all of the calls meet these
  std::vector<literals> except;  ///< none of the calls meets any of these
  value_ranges within;
  leaf first, second;
};

struct comparison {
  std::vector<declared_condition> conditions;  ///< names for the literals
  std::vector<difference> differences;         ///< by half and collective
};

/// Compares two whole documents. Parameters count; files and lines do not. Throws std::length_error
/// if they test too many conditions.
comparison compare(const document& first, const document& second);

}  // namespace tutti::detail
