// SPDX-License-Identifier: Apache-2.0
//
// The arrivals at barriers of a runtime. A barrier has one round for each power of two below the
// number of ranks. In each round a rank sends one message and waits for one.
// task_graph::run_barrier() sends and waits; task_graph counts arrivals here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::tasks {

class barrier_rounds {
 public:
  /// This rank enters the next barrier. Returns its sequence number, from 1 on.
  std::uint64_t enter() noexcept { return ++entered_; }
  void add_arrival(std::uint32_t round) {
    if (arrivals_.size() <= round) arrivals_.resize(round + 1);
    ++arrivals_[round];
  }
  /// Whether the message of a round of a barrier has arrived.
  bool arrived(std::uint32_t round, std::uint64_t barrier) const noexcept {
    return arrivals_.size() > round && arrivals_[round] >= barrier;
  }

 private:
  std::vector<std::uint64_t> arrivals_;  // by round
  std::uint64_t entered_ = 0;
};

}  // namespace tutti::tasks
