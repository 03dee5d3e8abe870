// SPDX-License-Identifier: Apache-2.0
//
// Selects the candidates to measure for a call: the algorithms and parameter values that the call
// permits, except those with a bad predicted time. The prediction is the linear model alpha *
// rounds + beta * bytes, with the rounds and bytes that the heads of the algorithms claim.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::tuning {

using namespace tutti::detail;

/// Microseconds per round, and per byte of the busiest rank.
struct speed {
  double alpha = 1, beta = 1e-4;
};

/// The claims of an algorithm for a call with blocks of `block` elements (the average, in vector
/// forms).
struct claims {
  double rounds = 0, bytes = 0;
};
claims claims_of(const choice& c, const agreed_signature& s, std::size_t block);
inline double predicted(const claims& c, const speed& v) noexcept {
  return c.rounds * v.alpha + c.bytes * v.beta;
}

/// The speed for which the model predicts both measurements. Both components are positive for any
/// input.
speed fit(const claims& first, double first_us, const claims& second, double second_us) noexcept;

struct candidate {
  leaf use;
  std::string name;      ///< as for algorithm() or composition(): "native", "chain:segment=4096"
  double predicted = 0;  ///< us; 0 if there is no claim
};

/// "native", "ring", "chain:segment=4096" (default values are omitted), "@pure"
std::string label(const leaf& l);

/// A fixed order of choices: native, algorithms, compositions; default parameters before others;
/// then by label.
bool precedes(const leaf& a, const leaf& b);

/// The native collective if it is offered, and every algorithm that the call permits, with default
/// parameters. If `parameters` is set, also with other values of one parameter at a time.
/// Algorithms with restrictions that no condition of a tree expresses are omitted.
std::vector<candidate> pure_candidates(const selection_context& s, std::size_t block, bool parameters,
                                       const speed& v);

/// The compositions that the call permits.
std::vector<candidate> composed_candidates(const selection_context& s, std::size_t block, bool parameters);

/// Removes algorithms whose predicted time is more than `factor` times the best. It never removes
/// the native collective or `always`.
void prune(std::vector<candidate>& all, double factor, const leaf& always);

}  // namespace tutti::tuning
