// SPDX-License-Identifier: Apache-2.0
//
// Decides which candidates of a call are worth a simulation, and which comes first, since the best
// time so far limits how long the next is simulated.
//
// simulated_campaign.cpp calls it.
#pragma once

#include <vector>

#include "simulation/network.hpp"
#include "tuning/candidates.hpp"
#include "tuning/grow.hpp"

namespace tutti::tuning {

/// The time of a message, as the claims of algorithms count them.
speed speed_of(const simulation::network& links);

bool has_defaults(const choice& c);

/// The current choice comes last: once the best is known, it is enough to know that it is slow.
/// Default parameters come before others.
void put_promising_first(std::vector<candidate>& all, const leaf& current);

/// A call whose candidates were simulated with fewer ranks.
struct call_with_fewer_ranks {
  std::vector<timing> times;
  std::vector<candidate> candidates;
};
/// Leaves `current` and the candidates that are promising by one of these calls; all if there is
/// none. A candidate is promising if it was at most twice as slow as the best. One that exists only
/// with more ranks, such as a larger k, is promising if its algorithm was with another parameter.
void keep_promising(std::vector<candidate>& all, const leaf& current,
                    const std::vector<call_with_fewer_ranks>& fewer);

/// Whether the composition does nothing but make the same call on the same ranks, so that its time
/// is that of the call.
bool only_repeats_the_call(const composed_algorithm&, const selection_context&);

}  // namespace tutti::tuning
