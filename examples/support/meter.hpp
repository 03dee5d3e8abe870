// SPDX-License-Identifier: Apache-2.0
//
// Records how many bytes a piece of work sent and which algorithms it used. Also contains the two
// calls that the graph examples consist of: an exchange with every rank, and a sum.
#pragma once

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

/// A counter on every rank. `sent` records the call just made and how many of its bytes left this
/// rank.
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

/// The items that one rank sends to the others, in any order.
template <class T>
struct outbox {
  std::vector<std::uint32_t> ranks;
  std::vector<T> items;
  void post(std::uint32_t rank, const T& item) {
    ranks.push_back(rank);
    items.push_back(item);
  }
};

/// Sends every item to its rank. Returns the received items in the order of their senders.
template <class T>
std::vector<T> exchange(tutti::communicator& world, const outbox<T>& outbox, meter& meter) {
  using namespace tutti;
  std::vector<std::size_t> counts(world.size()), next(world.size());
  for (std::uint32_t rank : outbox.ranks) ++counts[rank];
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
  std::vector<T> sorted(outbox.items.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[next[outbox.ranks[i]]++] = outbox.items[i];
  std::vector<T> received =
      // The call exchanges the receive counts.
      world.alltoallv(send_buf(sorted), send_counts(counts));
  meter.sent(collective::alltoall, (counts.size() - 1) * sizeof(std::size_t));
  meter.sent(collective::alltoallv, (sorted.size() - counts[world.rank()]) * sizeof(T));
  return received;
}

/// The sum over all ranks, on all ranks.
inline std::uint64_t total(tutti::communicator& world, std::uint64_t mine, meter& meter) {
  using namespace tutti;
  const std::uint64_t sum = world.allreduce_single(send_buf(mine), op(std::plus<>{}));
  meter.sent(collective::allreduce, world.size() > 1 ? sizeof(mine) : 0);
  return sum;
}
