// SPDX-License-Identifier: Apache-2.0
//
// The calls that an algorithm is proved on. With the usual parameters these are all roots, modes (in place,
// ordered) and counts for up to 64 ranks. Other values of parameters, and splits into two groups, are tried
// all for few ranks. The more ranks, the fewer of these are drawn, another choice for each number of ranks,
// but always every root, every split, every fan-out and every base.
#pragma once

#include <cstdint>
#include <vector>

#include "proof/abstract_call.hpp"

namespace tutti::proof {

/// Whether the algorithm serves this number of ranks at all.
bool serves(const pure_algorithm& a, int ranks);

/// How many combinations there are, and how many of them were tried.
struct coverage {
  std::uint64_t all = 0, tried = 0;
  coverage& operator+=(const coverage& other) noexcept {
    all += other.all;
    tried += other.tried;
    return *this;
  }
};

struct case_list {
  std::vector<case_options> cases;  ///< no two alike
  coverage plain;                   ///< root x graph x mode x count, with the usual parameters
  coverage further;                 ///< the same with every other choice of parameters, and every split
};

/// On symbols: small counts, uneven blocks. Calls that differ in their counts only stand together.
/// `exhaustive`: all combinations.
case_list result_cases(const pure_algorithm& a, int ranks, bool exhaustive = false);

/// For the claims. The counts are not chosen yet: they depend on the schedules (divisible_counts).
std::vector<case_options> claim_cases(const pure_algorithm& a, int ranks);

/// Counts that everything the schedules cut divides: parts, pieces and segments.
std::vector<std::size_t> divisible_counts(const case_options& w, const std::vector<schedule>& schedules);

}  // namespace tutti::proof
