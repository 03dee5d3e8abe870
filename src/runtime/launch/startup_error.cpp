// SPDX-License-Identifier: Apache-2.0
//
// Finds the processes of lower rank on this node in /proc, by the variables of their launcher.
#include "runtime/launch/startup_error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "base/environment_variables.hpp"
#include "runtime/launch/modules.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

// The rank of a process on its node, by launcher: MPICH's, Open MPI's, Slurm's.
constexpr const char* local_rank_variables[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                                                "SLURM_LOCALID"};

// Empty or incomplete if the file cannot be read, because its process ended after it was opened.
// Stream iterators would throw then, but read() sets the state of the stream.
std::string contents_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string all;
  for (char part[4096]; in;) {
    in.read(part, sizeof part);
    all.append(part, static_cast<std::size_t>(in.gcount()));
  }
  return all;
}

// The environment with which the process started, each variable between two null characters. Empty
// if the process has ended, or belongs to another user.
std::string environment_of(pid_t process) {
  const std::string all = contents_of("/proc/" + std::to_string(process) + "/environ");
  return all.empty() ? all : '\0' + all + '\0';
}

// Returns -1 if the environment has not this variable.
int local_rank_of(const std::string& environment, const std::string& variable) {
  const std::size_t at = environment.find('\0' + variable + '=');
  return at == std::string::npos ? -1 : std::atoi(environment.c_str() + at + variable.size() + 2);
}

// The fields of /proc/N/stat: "number (name) state parent ...". The name may contain anything.
pid_t parent_of(pid_t process) {
  const std::string all = contents_of("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = all.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= all.size()) return 0;
  return static_cast<pid_t>(std::atoi(all.c_str() + name_end + 4));
}

// The next process above that has not this variable. There may be scripts in between.
pid_t launcher_above(pid_t process, const std::string& variable) {
  while (process > 1 && local_rank_of(environment_of(process), variable) >= 0) process = parent_of(process);
  return process;
}

// The ranks below `own` of this job on this node whose processes run.
std::set<int> lower_ranks(const std::string& variable, int own) {
  const pid_t launcher = launcher_above(getpid(), variable);
  std::set<int> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const auto process = static_cast<pid_t>(std::atoi(entry->path().filename().c_str()));
    const int rank = process > 0 ? local_rank_of(environment_of(process), variable) : -1;
    if (rank >= 0 && rank < own && launcher_above(process, variable) == launcher) found.insert(rank);
  }
  return found;
}

// Numbers of polls, one in 100 ms.
constexpr int polls_until_seen = 50;
constexpr int max_polls(int rank) { return 100 + 30 * std::min(rank, 20); }

// Whether a process of lower rank on this node has ended, or ends within ten seconds and three more
// for each lower rank, at most 70 seconds. A higher rank waits longer, so that it learns that a
// lower one has printed. A process that replaces its program has no environment for a moment, so it
// must be absent for half a second.
//
// A rank that has not been seen yet may be about to get its environment. It is seen soon then. A
// rank that is never seen has ended. If none is seen for five seconds, all have ended.
bool lower_rank_ends(const std::string& variable, int own) {
  std::set<int> seen;
  int absent = 0;
  for (int i = 0; i < (seen.empty() ? polls_until_seen : max_polls(own)) && absent < 5; ++i) {
    const std::set<int> running = lower_ranks(variable, own);
    seen.insert(running.begin(), running.end());
    absent = running.size() == seen.size() ? 0 : absent + 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return absent == 5 || static_cast<int>(seen.size()) < own;
}

}  // namespace

bool is_nonzero_process() {
  if (!find_launcher().mpi) return false;
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const auto value = setting(rank); value && *value != "0") return true;
  return false;
}

bool must_report_startup_error() {
  if (!is_nonzero_process()) return true;
  for (const char* variable : local_rank_variables)
    if (const int own = std::atoi(setting(variable).value_or("0").c_str()); own > 0)
      return !lower_rank_ends(variable, own);
  // The first process of another node than that of rank 0: the launcher may end it meanwhile.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return true;
}

}  // namespace tutti::detail
