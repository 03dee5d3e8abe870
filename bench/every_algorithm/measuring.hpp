// SPDX-License-Identifier: Apache-2.0
//
// Measures all algorithms on the engine that this process was started on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "every_algorithm/record.hpp"

namespace bench {

struct campaign_options {
  std::vector<std::string> collectives;
  std::vector<std::size_t> sizes{8, 1024, 65536, 1048576};
  std::vector<std::string> algorithms;  // names or parts of names; empty: all
  int ranks = 0;  // 0: TUTTI_RANKS or the launcher decides
  bool parameters = false;  // also values other than the defaults
  bool in_place = false;
  double budget_ms = 4;  // for one of `repeat` measurements of an algorithm at one size
  int repeat = 3;  // rounds over the algorithms of a table; the best counts
  double seconds = 60;  // after this time the rest is skipped
};

/// Calls `done` on one rank for each record, as soon as it is available. Returns the exit status.
int measure_here(int argc, char** argv, const campaign_options& w,
                 const std::function<void(const record&)>& done);

}  // namespace bench
