// SPDX-License-Identifier: Apache-2.0
//
// What a piece of work sent, and which algorithms carried it; and the one pattern that graphs and sorting share: a
// letter to every rank.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

/// Kept by every rank. `sent` is told of each call just made, and of how many of its bytes left this rank.
class meter {
 public:
  explicit meter(tutti::communicator& world) : world_(world) {}

  void sent(tutti::collective what, std::uint64_t bytes) {
    bytes_ += bytes;
    algorithms_.insert(std::string(world_.last_algorithm(what)));
  }
  std::uint64_t bytes() const { return bytes_; }
  const std::set<std::string>& algorithms() const { return algorithms_; }

 private:
  tutti::communicator& world_;
  std::uint64_t bytes_ = 0;
  std::set<std::string> algorithms_;
};

/// One letter for each rank.
template <class T>
using letters = std::vector<std::vector<T>>;

/// Sends letter i to rank i, and gives what came, in the order of the ranks.
template <class T>
std::vector<T> exchange(tutti::communicator& world, const letters<T>& outbox, meter& meter) {
  using namespace tutti;
  std::vector<T> all;
  std::vector<std::size_t> counts;
  for (const auto& letter : outbox) {
    all.insert(all.end(), letter.begin(), letter.end());
    counts.push_back(letter.size());
  }
  std::vector<T> came = world.alltoallv(send_buf(all), send_counts(counts));  // how much will come: found by itself
  meter.sent(collective::alltoall, (world.size() - 1) * sizeof(std::size_t));
  meter.sent(collective::alltoallv, (all.size() - counts[world.rank()]) * sizeof(T));
  return came;
}

/// The sum over all ranks, on all ranks.
inline std::uint64_t total(tutti::communicator& world, std::uint64_t mine, meter& meter) {
  using namespace tutti;
  const std::uint64_t sum = world.allreduce_single(send_buf(mine), op(std::plus<>{}));
  if (world.size() > 1) meter.sent(collective::allreduce, sizeof(mine));
  return sum;
}
