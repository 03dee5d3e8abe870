// SPDX-License-Identifier: Apache-2.0
//
// The proof of an algorithm for a number of ranks. It runs every case of cases.hpp on symbols. For
// counts that divide evenly, it compares the claims of the file head with the costs of the
// schedules.
#pragma once

#include <string>
#include <vector>

#include "proof/abstract_run.hpp"
#include "proof/cases.hpp"

namespace tutti::proof {

struct finding {
  std::string algorithm;
  int ranks = 0;
  std::string call;  ///< abstract_call::text()
  fault what;
};

struct proof_result {
  std::uint64_t calls = 0, messages = 0, combined = 0;
  std::int64_t max_rounds = 0;  ///< over the cases of the claims
  std::size_t max_memory = 0;   ///< bytes of one rank's schedule
  /// for algorithms: root x mode x count with the default parameters
  coverage default_parameters;
  /// for algorithms: the same with all parameter values that are tried, and all splits
  coverage all_parameters;
  coverage topologies;            ///< for compositions: topology x parameters x root x mode x count
  std::vector<finding> findings;  ///< the first few for each number of ranks
  proof_result& operator+=(const proof_result& other);
};

/// Proves an algorithm. It continues after a fault and stops after a few. `exhaustive` omits no
/// case.
proof_result prove(const pure_algorithm& a, int ranks, abstract_machine& machine, bool exhaustive = false);

/// Compares the claims with the measured costs of one call. Returns the claims that do not hold.
std::vector<fault> compare_claims(const pure_algorithm& a, const abstract_call& p, const costs& measured);

}  // namespace tutti::proof
