// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/peer_watch.hpp"

#include <utility>

#include <unistd.h>

namespace tutti::mpi {

peer_watch::peer_watch(shm::segment& node, std::vector<int> job_ranks, int node_rank)
    : node_(node), job_ranks_(std::move(job_ranks)), self_(node_rank), next_(node_rank), parent_(getppid()) {}

peer_watch::loss peer_watch::lost(int node_rank) const {
  const int rank = job_ranks_[static_cast<std::size_t>(node_rank)];
  return {rank, "its process has ended without a report"};
}

// A peer whose process leaves the job in order has the role `left` before it ends. When the
// launcher has ended, ranks that notice it end too, so this comes first.
std::optional<peer_watch::loss> peer_watch::look_closely() {
  if (!node_.is_rank()) return {};
  if (getppid() != parent_)
    return loss{-1, "the launcher of the job has ended (process " + std::to_string(parent_) + ")"};
  if (const int already = node_.lost_rank(); already >= 0) return lost(already);
  const int peers = node_.ranks(), at_once = (peers + 99) / 100;
  for (int i = 0; i < at_once; ++i) {
    next_ = (next_ + 1) % peers;
    if (next_ == self_ || node_.role(next_) != shm::segment_role::joined || node_.peer_is_alive(next_))
      continue;
    if (node_.role(next_) != shm::segment_role::joined) continue;
    node_.abort(next_);
    // A rank that has noticed a loss before may have ended since, and is not the cause.
    return lost(node_.lost_rank());
  }
  return {};
}

}  // namespace tutti::mpi
