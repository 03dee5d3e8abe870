// SPDX-License-Identifier: Apache-2.0
//
// Measures the patterns of machine_patterns.hpp, the eager limits and the overheads on the ranks of
// a job, and a few collectives to compare the fitted model with. machine_fit.hpp evaluates them.
//
// The messages are those of schedules: within a node they go through the shared memory of tutti,
// unless MPI carries them. Times follow the protocol of measure.hpp: ranks start together, short
// patterns run in a loop, and the smallest median of several rounds counts. Buffers of 4 KiB and
// more are written before each pattern and read after it, as `tutti tune` does.
#pragma once

#include <string>

#include "tuning/benchmark_fixture.hpp"
#include "tuning/campaign.hpp"
#include "tuning/machine_fit.hpp"

namespace tutti::tuning {

struct measured_machine {
  machine_measurements times;
  std::size_t measurements = 0;
  double spread = 0;  ///< median of the relative interquartile ranges
  /// The largest number of ranks that share the cores of one computer, and these cores.
  int ranks_of_host = 0, cores_of_host = 0;

  bool oversubscribed() const noexcept { return ranks_of_host > cores_of_host; }
};

/// Why the model cannot describe the ranks of the job: nodes with different numbers of ranks, or
/// ranks of a node that are not consecutive. Empty if it can. The same on all ranks.
std::string why_no_machine(const endpoint& ep);

/// Called on rank 0 only, once the ranks of each computer are known.
using hosts_known = std::function<void(const measured_machine&)>;

/// Runs on every rank of a job of at least two ranks for which why_no_machine() is empty. Takes
/// about `seconds`; one round of all patterns runs in any case. Rank 0 gets the result, and only it
/// calls `report` and `known`.
measured_machine measure_machine(benchmark_fixture& fixture, endpoint& ep, double seconds,
                                 const hosts_known& known, const progress& report);

}  // namespace tutti::tuning
