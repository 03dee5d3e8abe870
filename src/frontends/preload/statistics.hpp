// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_PRELOAD_STATS: statistics of each collective. They count the calls that tutti served and
// those forwarded to MPI, what ran, the bytes moved and the time. Rank 0 reports them at
// MPI_Finalize.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tutti/collective.hpp"

namespace tutti::preload {

class statistics {
 public:
  /// The statistics that TUTTI_PRELOAD_STATS requests; null: none. Throws usage_error if its value
  /// is invalid.
  static std::unique_ptr<statistics> from_environment(int rank, int ranks);

  /// `algorithm`: "allreduce/ring"; null: the call was forwarded to MPI.
  void add(collective what, bool nonblocking, const char* algorithm, std::uint64_t bytes,
           std::chrono::nanoseconds elapsed);
  /// Prints the report. Collective over MPI_COMM_WORLD.
  void report() const;

 private:
  struct counters {
    std::uint64_t rerouted = 0, passed = 0, bytes = 0;
    std::chrono::nanoseconds time{0};
    std::map<std::string, std::uint64_t> algorithms;
  };
  statistics(std::string file, int rank, int ranks) : file_(std::move(file)), rank_(rank), ranks_(ranks) {}
  std::string json(const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& all) const;
  std::string table(const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& all) const;

  std::string file_;  // empty: a table on standard error
  int rank_, ranks_;
  std::mutex mutex_;
  std::map<std::string, counters> counters_;  // "allreduce", "iallreduce"
};

}  // namespace tutti::preload
