// SPDX-License-Identifier: Apache-2.0
//
// What the regions of a collective mean: that every region can be reached, that every leaf is legal for all
// calls that reach it, and that every call is served. Decided exactly, by sets of calls over the conditions
// (truth_set.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selection/tree.hpp"

namespace tutti {

/// A leaf and a region as they were read, with their places in the text.
struct leaf_place {
  leaf use;
  std::string pointer;
  int line;
};
struct region_place {
  literals when;
  std::vector<leaf_place> leaves;
  std::string pointer;
  int line;
};

/// A fault within the list of regions; of the list itself where pointer is empty and line is 0.
struct found_fault {
  std::string pointer;
  int line;
  std::string reason, suggestion;
};

/// Everything that is illegal. `whole`: and that every call is served.
std::vector<found_fault> prove_legal(const std::vector<region_place>& regions, collective what, bool whole,
                                     std::span<const declared_condition> declared);

}  // namespace tutti
