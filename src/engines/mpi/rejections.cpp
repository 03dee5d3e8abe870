// SPDX-License-Identifier: Apache-2.0
//
// The rejections that ranks send one another over MPI. On one node a counter in shared memory says
// how many are on their way.
#include <cstdint>

#include <sched.h>

#include "engines/mpi/mpi_endpoint.hpp"

namespace tutti::mpi {

void mpi_endpoint::receive_rejections(rejection_inbox* into) noexcept {
  failure_monitor_->receive_rejections(into);
  const bool any = into != nullptr && size_ > 1;
  rejections_sent_here_ = !any ? &never_ : counts_rejections_ ? &node_counters_.of(rank_) : &always_;
}

void mpi_endpoint::send_rejection(int to, const rejection& what) {
  using send_mode = failure_monitor::send_mode;
  failure_monitor_->send_rejection(to, what,
                                   counts_rejections_ ? send_mode::standard : send_mode::synchronous);
  const int there = rank_on_node_[static_cast<std::size_t>(to)];
  if (there >= 0) node_counters_.of(there).fetch_add(1, std::memory_order_release);
}

// The ranks of one node know from their counter that a rejection is on its way. Between nodes this
// rank takes part in the call when the receivers have received the rejections. A receiver that
// computes, or that waits in a blocking collective of MPI, does not receive them. So this rank
// waits much longer than a short message takes; then it is at the receiver before any data of this
// call.
void mpi_endpoint::wait_for_rejections() noexcept {
  if (counts_rejections_) return;
  constexpr double seconds = 0.05;
  try {
    const double end = seconds_now() + seconds;
    while (!failure_monitor_->all_sent() && !failure_monitor_->failed() && seconds_now() < end) {
      failure_monitor_->poll();  // another rank may wait for this one
      sched_yield();
    }
  } catch (...) {
    // MPI has failed. The call finds that.
  }
}

// A rank increments the counter after it has sent the rejection, which is short, so it arrives
// soon.
void mpi_endpoint::fetch_rejections() noexcept {
  try {
    if (!counts_rejections_) return failure_monitor_->poll();
    // More may have arrived than are counted.
    const std::uint32_t sent = rejections_sent_here_->load(std::memory_order_acquire);
    const auto missing = [&] {
      return static_cast<std::int32_t>(sent - failure_monitor_->rejections_received()) > 0;
    };
    while (missing() && !failure_monitor_->failed()) failure_monitor_->poll();
    rejections_seen_ = sent;
  } catch (...) {
    // MPI has failed. The next call finds that.
  }
}

}  // namespace tutti::mpi
