// SPDX-License-Identifier: Apache-2.0
//
// The engines of this machine. Threads and fibers run in the process of the demo. For an MPI, the
// demo starts itself again under that MPI's launcher, and reads what rank 0 of that job prints.
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

/// A run on one engine: its outcomes, or the reason why there are none.
struct run {
  engine on;
  std::vector<outcome> outcomes;
  std::string problem = {};
};

struct plan {
  std::vector<engine> engines;  ///< the first has one rank
  std::vector<std::pair<std::string, std::string>> absent;  ///< name, and why it is left out
};

/// Parses a list such as "threads,fibers:256,openmpi". An empty list stands for all engines that
/// can run here. Throws input_error if a name is no engine, or if a named engine cannot run.
plan make_plan(const std::string& list);

/// Runs the work on that engine. A failure is reported in the result.
run run_on(const engine&, const material&, const request&);

/// True in a process that an MPI launcher started.
bool under_launcher();

/// Runs the work as a rank in such a process. Rank 0 reads the input. If that fails, all ranks
/// return an error. If `report` is true, rank 0 prints the outcomes for run_on() to read; otherwise
/// `show` receives them. Returns the exit code.
int run_as_rank(const request&, bool report, void (*show)(const run&, const material&));

}  // namespace demo
