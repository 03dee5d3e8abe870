// SPDX-License-Identifier: Apache-2.0
//
// Chooses the calls on which an algorithm is proved. With the default parameters these are all
// roots and modes (in place, ordered) for up to 64 ranks, each with up to four counts. Other
// parameter values and splits into two groups are all tried for few ranks. For more ranks fewer of
// them are drawn, and each number of ranks draws other ones. But every root, every split, every
// fan-out and every radix is always included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "proof/abstract_call.hpp"

namespace tutti::proof {

/// Returns whether the algorithm serves this number of ranks at all.
bool serves(const pure_algorithm& a, int ranks);

/// The number of possible combinations, and how many of them were tried.
struct coverage {
  std::uint64_t all = 0, tried = 0;
  coverage& operator+=(const coverage& other) noexcept {
    all += other.all;
    tried += other.tried;
    return *this;
  }
};

struct case_list {
  std::vector<case_options> cases;  ///< no duplicates
  coverage default_parameters;      ///< root x graph x mode x count, with the default parameters
  coverage all_parameters;          ///< the same with every choice of parameters and every split
};

/// The calls to run on symbols: small counts, uneven blocks. Calls that differ only in their counts
/// are adjacent. `exhaustive` selects all combinations.
case_list result_cases(const pure_algorithm& a, int ranks, bool exhaustive = false);

/// The calls for the claims. Their counts depend on the schedules and are chosen later
/// (divisible_counts).
std::vector<case_options> claim_cases(const pure_algorithm& a, int ranks);

/// The counts and parameter values of result_cases(), for a report: lines of at most 78 columns.
inline constexpr const char* tried_inputs[] = {
    "counts: 0, 1, p - 1 and 2 p + 3 elements; 0, 1, 3 and 7 per block if p > 9;",
    "  p, p + 1 and 2 p + 3 if the algorithm needs an element per rank",
    "other parameters: up to 5 values of each, the default among them;",
    "  every other k and radix in one call for each number of ranks"};

/// For a proof of one rank: the calls of result_cases() and of claim_cases(), drawn if there are
/// many. `rank` is among the roots. default_parameters counts nothing.
case_list rank_result_cases(const pure_algorithm& a, int ranks, int rank);
case_list rank_claim_cases(const pure_algorithm& a, int ranks, int rank);

/// Counts that are divisible by all parts, pieces and segments of the schedules.
std::vector<std::size_t> divisible_counts(const case_options& w, std::span<const schedule> schedules);

}  // namespace tutti::proof
