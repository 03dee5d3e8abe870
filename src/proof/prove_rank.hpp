// SPDX-License-Identifier: Apache-2.0
//
// The proof of what one rank does, for numbers of ranks that are too many to execute together. Its
// schedule is executed alone (rank_run.cpp), and its messages are compared with the schedules of
// its peers (peer_messages.hpp). Deadlocks, the values of results and the time until the last rank
// is done need all ranks: prove.hpp.
#pragma once

#include "proof/peer_messages.hpp"
#include "proof/prove.hpp"

namespace tutti::proof {

struct rank_proof {
  std::uint64_t messages = 0;   ///< of the rank, over all calls
  std::uint64_t unknown = 0;    ///< of them: messages whose length other messages carry
  std::uint64_t untracked = 0;  ///< calls whose elements are too many to be tracked
  std::int64_t max_rounds = 0;
  std::size_t max_memory = 0;  ///< bytes of the rank's schedule
  coverage calls;
  coverage peers;                 ///< over all calls
  std::vector<finding> findings;  ///< the first few
  rank_proof& operator+=(const rank_proof& other);
};

/// Proves one rank. It continues after a fault and stops after a few.
rank_proof prove_rank(const pure_algorithm& a, int ranks, int rank, abstract_machine& machine);

/// Returns the claims that one rank alone refutes: each of its costs is at most that of the call.
std::vector<fault> compare_claims(const pure_algorithm& a, const case_options& w, int rank,
                                  const rank_costs& measured);

}  // namespace tutti::proof
