// SPDX-License-Identifier: Apache-2.0
//
// Declares the measurements with one number of ranks, within a time limit:
//
// 1. the speed of the machine, and the native collectives for the guidelines;
// 2. all candidates that the speed model keeps;
// 3. again the calls whose best candidates are equal within a noise that may hide a faster one,
//    until they are clear;
// 4. again each choice that would change a tree, in turn with the one that it would replace and
//    with its equals. The fastest of many is often just lucky, so only these times count.
//
// A call that stays unclear keeps its current choice. All times are those of the slowest rank, and
// all ranks know them. So all ranks make the same decisions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tuning/candidates.hpp"
#include "tuning/grow.hpp"
#include "tuning/guidelines.hpp"
#include "tuning/measure.hpp"

namespace tutti::tuning {

/// Measures the calls of a job. All results are the same on all ranks, and all ranks make the same
/// calls. Sizes are those of measured_call.hpp.
class call_timer {
 public:
  virtual ~call_timer() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Seconds since the campaign began.
  virtual double elapsed() = 0;
  virtual selection_context context_of(collective what, std::size_t bytes) = 0;

  struct result {
    measurement time;
    bool correct = true;
  };
  /// The names are those of the parameters algorithm() and composition(); with empty names the
  /// trees decide.
  virtual result measure(collective what, std::size_t bytes, const std::string& algorithm,
                         const std::string& composition) = 0;
};

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
  std::size_t repeated = 0;  ///< calls that step 3 measured again
  std::size_t unclear = 0;   ///< calls that stayed unclear
  std::vector<std::string> wrong_names;
};

/// Reports the current step, and the fraction of the time used, from 0 to 1.
using progress = std::function<void(const std::string& what, double part)>;

/// Runs on every rank of a job. Only rank 0 calls `report`.
campaign_result run_campaign(call_timer& timer, const document& base, const campaign_options& options,
                             const progress& report);

}  // namespace tutti::tuning
