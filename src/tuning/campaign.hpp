// SPDX-License-Identifier: Apache-2.0
//
// Declares the measurements with one number of ranks, within a time limit. They are: the speed of
// the machine, the native collectives for the guidelines, and all candidates that the speed model
// keeps. Then each choice that would change a tree is measured again, alternately with the current
// choice. The fastest of many is often just lucky, so only a choice that wins twice stays.
//
// All times are those of the slowest rank, and all ranks know them. So all ranks make the same
// decisions.
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
  std::vector<std::size_t> sizes;  ///< bytes of a block, or of the vector if there are no blocks
  bool parameters = true;          ///< also measure parameter values other than the defaults
  bool guidelines = true;
  /// skip a candidate whose predicted time is more than this many times the best
  double prune = 4;
  int repeat = 3;        ///< measurements of promising choices; others are measured once
  double budget_ms = 4;  ///< for one measurement
  double seconds = 60;   ///< for the whole campaign
  std::size_t max_total = std::size_t{8} << 20;  ///< bytes of all blocks together
  rules grow_rules;
};

struct campaign_result {
  int ranks = 0;
  std::vector<cell> cells;     ///< all measurements
  std::vector<cell> compared;  ///< those that may be chosen: confirmed ones, or the current choice
  std::vector<figure> natives;
  speed machine;
  std::size_t measurements = 0, pruned = 0, left_out = 0, wrong = 0;
  std::vector<std::string> wrong_names;
};

/// Reports the current step, and the fraction of the time used, from 0 to 1.
using progress = std::function<void(const std::string& what, double part)>;

/// Runs on every rank of a job. Only rank 0 calls `report`.
campaign_result run_campaign(benchmark_fixture& fixture, const document& base,
                             const campaign_options& options, const progress& report);

}  // namespace tutti::tuning
