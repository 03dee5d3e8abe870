// SPDX-License-Identifier: Apache-2.0
//
// What is worth being measured for a call: the algorithms and values of their parameters that the call
// permits, without those that a model predicts to be hopeless. The model is the linear one of messages,
// alpha + bytes * beta, over the rounds and bytes that the heads of the algorithms claim.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::tuning {

/// Microseconds of a round, and of a byte of the busiest rank.
struct speed {
  double alpha = 1, beta = 1e-4;
};

/// What an algorithm claims for a call, of `block` elements (of the average block, in vector forms).
struct claims {
  double rounds = 0, bytes = 0;
};
claims claims_of(const choice& c, const agreed_signature& s, std::size_t block);
inline double predicted(const claims& c, const speed& v) noexcept {
  return c.rounds * v.alpha + c.bytes * v.beta;
}

/// The speed at which two measurements are as predicted. Both parts are positive, whatever was measured.
speed fit(const claims& first, double first_us, const claims& second, double second_us) noexcept;

struct candidate {
  leaf use;
  std::string name;      ///< of the parameter algorithm() or composition(): "native", "chain:segment=4096"
  double predicted = 0;  ///< us; 0 where nothing is claimed
};

/// "native", "ring", "chain:segment=4096" (usual values left out), "@pure"
std::string label(const leaf& l);

/// The engine's own collective where it is offered, and every algorithm that the call permits; with its usual
/// parameters and, if wished for, with others, one at a time. Algorithms whose restrictions no condition of a
/// tree can say are left out.
std::vector<candidate> pure_candidates(const selection_context& s, std::size_t block, bool parameters,
                                       const speed& v);

/// The compositions that the call permits.
std::vector<candidate> composed_candidates(const selection_context& s, std::size_t block, bool parameters);

/// Leaves out what is predicted to take more than `factor` times as long as the best of all, but neither the
/// engine's own collective nor `always`.
void prune(std::vector<candidate>& all, double factor, const leaf& always);

}  // namespace tutti::tuning
