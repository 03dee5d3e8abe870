// SPDX-License-Identifier: Apache-2.0
//
// One allreduce that is made over and over, of an element that its caller writes. If the engine has
// lines that all ranks read, the call is checked and selected once, and later calls use the lines.
// Threads have lines, and so have processes over MPI that share the memory of a node. Supersteps
// end with this call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "communicator/native_substitute.hpp"
#include "transport/shm/line_exchange.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::bsp {

class repeated_allreduce {
 public:
  /// `operation`: what the caller does, for reports; a literal.
  repeated_allreduce(detail::communicator_impl& all, const char* operation) noexcept
      : all_(all), native_(all), site_{.operation = operation, .what = "the other members"} {}

  /// The call, which the caller fills in before the first run().
  call& made() noexcept { return made_; }
  void run() {
    detail::run_call(all_, made_);
    if (!lines_requested_) request_lines();
  }

  /// Whether the next call may use the lines; other members may call run() instead.
  bool has_lines() const noexcept { return lines_ && native_.may_run(); }
  /// See shm::line_exchange::exchange().
  template <class Write>
  void run_in_lines(Write&& write) {
    native_.run([&](std::uint32_t id) {
      site_.run = id;
      lines_->exchange(site_, write);
    });
  }
  /// After it, until the next call: what a member has written.
  const std::byte* of(int rank) const noexcept { return lines_->of(rank); }

 private:
  void request_lines();

  detail::communicator_impl& all_;
  detail::native_substitute native_;
  call made_;
  shm::wait_site site_;
  std::optional<shm::line_exchange> lines_;
  bool lines_requested_ = false;
};

}  // namespace tutti::bsp
