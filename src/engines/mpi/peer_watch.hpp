// SPDX-License-Identifier: Apache-2.0
//
// Detects, in a rank that waits, that the process of another rank of its node has ended, or that
// the launcher has. Launchers end such a job too, but not if they are dead themselves, and a rank
// that polls memory notices nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "transport/shm/segment.hpp"

namespace tutti::mpi {

class peer_watch {
 public:
  struct loss {
    int rank;  // of the job; -1: the launcher
    std::string text;
  };

  /// `job_ranks[r]`: the rank of the job that has rank r in the node.
  peer_watch(shm::segment& node, std::vector<int> job_ranks, int node_rank);

  /// What the job has lost, if anything. Looks at most every 10 ms, at one peer each time but at
  /// all in a second at the latest. Tells the other ranks of the node. `now`: seconds.
  std::optional<loss> look(double now) {
    if (now - last_ < interval) [[likely]]
      return {};
    last_ = now;
    return look_closely();
  }

 private:
  static constexpr double interval = 0.01;
  std::optional<loss> look_closely();
  loss lost(int node_rank) const;

  shm::segment& node_;
  std::vector<int> job_ranks_;
  int self_, next_ = 0;
  pid_t parent_;
  double last_ = 0;
};

}  // namespace tutti::mpi
