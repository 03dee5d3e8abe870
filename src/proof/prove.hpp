// SPDX-License-Identifier: Apache-2.0
//
// The proof of an algorithm for a number of ranks: every case of cases.hpp runs on symbols, and what the head
// of its file claims is compared with what its schedules cost where everything divides.
#pragma once

#include <string>
#include <vector>

#include "proof/abstract_run.hpp"
#include "proof/cases.hpp"

namespace tutti::proof {

struct finding {
  std::string algorithm;
  int ranks = 0;
  std::string call;  ///< plan::text()
  fault what;
};

struct proof_result {
  std::uint64_t calls = 0, messages = 0, combined = 0;
  std::int64_t max_rounds = 0;  ///< of the claims' cases
  std::size_t max_memory = 0;   ///< bytes of one rank's schedule
  coverage plain;               ///< of algorithms: root x mode x count with the usual parameters
  coverage further;  ///< of algorithms: the same with all parameters that are tried, and all splits
  coverage layouts;  ///< of compositions: layout x parameters x root x mode x count
  std::vector<finding> findings;  ///< of one number of ranks the first few
  proof_result& operator+=(const proof_result& other);
};

/// All of it. A fault does not end it, some do. `exhaustive`: no case is left out.
proof_result prove(const pure_algorithm& a, int ranks, abstract_machine& machine, bool exhaustive = false);

/// The claims alone, for one call and the costs of its schedules: empty, or what does not hold.
std::vector<fault> compare_claims(const pure_algorithm& a, const plan& p, const costs& measured);

}  // namespace tutti::proof
