// SPDX-License-Identifier: Apache-2.0
//
// The engines of this machine. Threads and fibers run within the demo; for an MPI the demo starts itself
// again under that MPI's launcher and reads what rank 0 of that job prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "work.hpp"

namespace demo {

struct engine {
  std::string name;  ///< threads, fibers, openmpi or mpich
  int ranks = 0;
};

/// A run on one engine: its outcomes, or why there are none.
struct run {
  engine on;
  std::vector<outcome> outcomes;
  std::string problem = {};
};

struct plan {
  std::vector<engine> engines;                              ///< the first is one rank, to compare with
  std::vector<std::pair<std::string, std::string>> absent;  ///< name, and why it is left out
};

/// From a list such as "threads,fibers:256,openmpi"; all that can run here if empty. Throws input_error for a
/// name that is no engine and for an engine named that cannot run.
plan make_plan(const std::string& list);

/// Runs there; a failure is in the result.
run run_on(const engine&, const material&, const request&);

/// True in a process that an MPI launcher started.
bool under_launcher();

/// What such a process does: its part of the work as a rank. Rank 0 reads the input; if that fails all know.
/// With `report` rank 0 prints the outcomes for run_on() to read, else `show` gets them. The result is the
/// exit code.
int be_a_rank(const request&, bool report, void (*show)(const run&, const material&));

}  // namespace demo
