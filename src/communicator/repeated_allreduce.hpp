// SPDX-License-Identifier: Apache-2.0
//
// One allreduce that is made over and over, of an element that its caller writes. If the engine has
// lines that all ranks read, the call is checked and selected once, and later calls use the lines.
// BSP ends its supersteps with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "communicator/call_dispatcher.hpp"
#include "communicator/rank_state.hpp"
#include "transport/shm/line_exchange.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::detail {

class repeated_allreduce {
 public:
  /// `operation`: what the caller does, for reports; a literal.
  repeated_allreduce(communicator_impl& all, const char* operation) noexcept;

  /// The call, which the caller fills in before the first run().
  call& made() noexcept { return made_; }
  void run() {
    run_call(all_, made_);
    if (!lines_requested_) request_lines();
  }

  /// Whether the next call may use the lines; other members may call run() instead. It may not
  /// while something is under way on this rank, which the wait must progress.
  bool has_lines() const noexcept { return lines_ && rank_.active.empty(); }
  /// See shm::line_exchange::exchange().
  template <class Write>
  void run_in_lines(Write&& write) {
    calls_.run_instead([&](std::uint32_t id) {
      site_.run = id;
      lines_->exchange(site_, write);
    });
  }
  /// After it, until the next call: what a member has written.
  const std::byte* of(int rank) const noexcept { return lines_->of(rank); }

 private:
  void request_lines();

  communicator_impl& all_;
  call_dispatcher& calls_;
  rank_state& rank_;
  call made_;
  shm::wait_site site_;
  std::optional<shm::line_exchange> lines_;
  bool lines_requested_ = false;
};

}  // namespace tutti::detail
