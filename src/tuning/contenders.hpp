// SPDX-License-Identifier: Apache-2.0
//
// Candidates of one call with their measurements: which of them need more, and how they compare.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tuning/candidates.hpp"
#include "tuning/grow.hpp"
#include "tuning/repeated_times.hpp"

namespace tutti::tuning {

struct contender {
  candidate what;
  repeated_times times;
};

/// The times of those that are good, in the order of precedes(). So reports and trees do not depend
/// on the order of measurements.
std::vector<timing> timings_of(const std::vector<contender>& all);

/// Requires a nonempty list.
const timing& fastest(const std::vector<timing>& all);

/// The candidates to measure again: the best, and those that may be faster by the required gain.
/// Empty if the choice is clear, or if more measurements help little.
std::vector<contender*> unclear_of(std::vector<contender>& all, const rules& r);

/// The times of choices that were measured in turn and as often. Those of the first one are known
/// to be `first_us`. A machine has slow phases, so only times of one turn are compared.
std::vector<timing> compared_times(const std::vector<contender>& group, double first_us);

/// Whether it is known which of the others are faster than the first one by the required gain, and
/// whether a difference between the best one and another one is real.
bool is_clear(const std::vector<timing>& all, const rules& r);

}  // namespace tutti::tuning
