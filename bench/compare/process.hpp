// SPDX-License-Identifier: Apache-2.0
//
// Runs a child program, captures its output, and ends it after a time limit.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct child_result {
  std::string out;
  std::string err;
  int status = 0;          // the exit code, or 128 + the signal that ended it
  bool timed_out = false;  // it was ended after the time limit
};

// Changes to the environment: a value, or nothing to remove the variable.
using environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

// Runs `command` (found in PATH unless it contains a slash). Throws std::system_error if no process
// can be created. A program that cannot be started ends with status 127. The child ends with this
// process in any case.
child_result run_child(const std::vector<std::string>& command, const environment& changes,
                       std::chrono::duration<double> limit);

// Returns the first words of a launcher that starts this many ranks, even if there are fewer cores.
// Adds the variables that it needs to `variables`.
std::vector<std::string> launcher_command(const std::string& launcher, int ranks, environment& variables);

// A cluster of namespaces on this machine. `script`: scripts/cluster.
struct cluster {
  std::string script;
  int nodes = 0;            // 0: no cluster
  std::string rate, delay;  // of its network, as the script takes them

  // The first words of each command, without the ranks.
  [[nodiscard]] std::vector<std::string> command(const std::string& launcher) const;
};

// Returns the first words of a command that starts this many ranks on `where`. `ranks`: a multiple
// of its nodes.
std::vector<std::string> cluster_command(const cluster& where, const std::string& launcher, int ranks);

// Returns the name of the MPI of a launcher: openmpi for mpirun.openmpi.
std::string mpi_of(const std::string& launcher);

// Returns whether PATH has such a program.
bool in_path(const std::string& program);

}  // namespace bench
