// SPDX-License-Identifier: Apache-2.0
//
// All that is measured with one number of ranks, within a time: the speed of the machine, the native
// collectives for the guidelines, every candidate that the speed leaves over, and once more, in turn, each
// choice that would change a tree and what stands there now. The quickest of many is too often the luckiest
// one, so only what wins the second time stays.
//
// All times are those of the slowest rank, which all ranks know; so all of them decide alike what comes next.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tuning/benchmark_fixture.hpp"
#include "tuning/candidates.hpp"
#include "tuning/grow.hpp"
#include "tuning/guidelines.hpp"

namespace tutti::tuning {

struct campaign_options {
  std::vector<collective> collectives;
  std::vector<std::size_t> sizes;  ///< bytes of a block, or of the vector where there are no blocks
  bool parameters = true;          ///< other values than the usual ones, too
  bool guidelines = true;
  double prune = 4;      ///< left out: what is predicted to take so many times as long as the best
  int repeat = 3;        ///< measurements of what may be the best; one of the others
  double budget_ms = 4;  ///< for one measurement
  double seconds = 60;   ///< for all
  std::size_t largest_total = std::size_t{8} << 20;  ///< bytes of all blocks together
  rules keep;
};

struct campaign_result {
  int ranks = 0;
  std::vector<cell> cells;     ///< all that was measured
  std::vector<cell> compared;  ///< of these what may be chosen: confirmed, or there now
  std::vector<figure> natives;
  speed machine;
  std::size_t measurements = 0, pruned = 0, left_out = 0, wrong = 0;
  std::vector<std::string> wrong_names;
};

/// What is under way, and how much of the time has gone, from 0 to 1.
using progress = std::function<void(const std::string& what, double part)>;

/// On every rank of a job. `said` is called on rank 0.
campaign_result run_campaign(benchmark_fixture& where, const document& base, const campaign_options& w,
                             const progress& said);

}  // namespace tutti::tuning
