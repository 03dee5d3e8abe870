// SPDX-License-Identifier: Apache-2.0
//
// The calls that an algorithm is proved on: all that its restrictions permit for few ranks; the more ranks,
// the fewer of them, another choice for each number of ranks; but always every root, every split into two
// groups, every fan-out and every base.
#pragma once

#include <vector>

#include "check/plan.hpp"

namespace tutti::check {

/// Whether the algorithm serves this number of ranks at all.
bool serves(const pure_algorithm& a, int ranks);

/// On symbols: small counts, uneven blocks. Calls that differ in their counts only stand together.
std::vector<wish> result_cases(const pure_algorithm& a, int ranks);

/// For the claims. The counts are not chosen yet: they depend on the schedules (divisible_counts).
std::vector<wish> claim_cases(const pure_algorithm& a, int ranks);

/// Counts that everything the schedules cut divides: parts, pieces and segments.
std::vector<std::size_t> divisible_counts(const wish& w, const std::vector<schedule>& schedules);

}  // namespace tutti::check
