// SPDX-License-Identifier: Apache-2.0
//
// Declares the proof of a list of regions. Every region is reachable, and every call is served.
// Every leaf is legal for all calls that reach it. The proof is exact; it computes with sets of
// calls over the conditions (truth_set.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::detail {

/// A leaf and a region as read, with their positions in the text.
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

/// A fault within the list of regions. If pointer is empty and line is 0, it concerns the list
/// itself.
struct found_fault {
  std::string pointer;
  int line;
  std::string reason, suggestion;
};

/// Returns all faults. If `total` is true, a call that no region serves is a fault too.
std::vector<found_fault> prove_legal(const std::vector<region_place>& regions, collective what, bool total,
                                     std::span<const declared_condition> declared);

}  // namespace tutti::detail
