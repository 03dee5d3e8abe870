// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_PRELOAD_STATS: how often each collective was called, how many of the calls tutti served and how many
// it left to MPI, what ran, how much was moved and how long it took. Told by rank 0 at MPI_Finalize.
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
  /// What TUTTI_PRELOAD_STATS asks for; null: nothing. Throws usage_error where it means nothing.
  static std::unique_ptr<statistics> is_requested(int rank, int ranks);

  /// `algorithm`: "allreduce/ring"; null: it was left to MPI.
  void add(collective what, bool nonblocking, const char* algorithm, std::uint64_t bytes,
           std::chrono::nanoseconds took);
  /// Collective over MPI_COMM_WORLD.
  void tell() const;

 private:
  struct line {
    std::uint64_t rerouted = 0, passed = 0, bytes = 0;
    std::chrono::nanoseconds took{0};
    std::map<std::string, std::uint64_t> algorithms;
  };
  statistics(std::string file, int rank, int ranks) : file_(std::move(file)), rank_(rank), ranks_(ranks) {}
  std::string json(const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& all) const;
  std::string table(const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& all) const;

  std::string file_;  // empty: a table on standard error
  int rank_, ranks_;
  std::mutex lock_;
  std::map<std::string, line> lines_;  // "allreduce", "iallreduce"
};

}  // namespace tutti::preload
