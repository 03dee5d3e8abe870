// SPDX-License-Identifier: Apache-2.0
//
// One allreduce that is made over and over, of an element into which its caller puts what it has to say.
// Where the engine has lines that all read, the call is told from others once, and then goes straight to
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "communicator/communicator_impl.hpp"
#include "transport/shm/line_exchange.hpp"

namespace tutti::detail {

class repeated_allreduce {
 public:
  /// `operation`: what the caller is in, for reports; a literal.
  repeated_allreduce(communicator_impl& all, const char* operation) noexcept
      : all_(all), site_{.operation = operation, .what = "the other members"} {}

  /// The call, to be laid down before the first.
  call& made() noexcept { return made_; }
  void run() {
    all_.run_blocking(made_);
    if (!asked_) request_lines();
  }

  /// Whether the next one may go in lines: some members may do so while others run(). False also while
  /// something is under way on this rank, which is served meanwhile.
  bool has_lines() const noexcept { return lines_ && all_.shared_->active.empty(); }
  /// See shm::line_exchange::meet().
  template <class Write>
  void run_in_lines(Write&& write) {
    site_.run = all_.next_number_of_call();
    all_.guarded([&] { lines_->meet(site_, write); });
  }
  /// After it, until the next call: what a member has written.
  const std::byte* of(int rank) const noexcept { return lines_->of(rank); }

 private:
  void request_lines();

  communicator_impl& all_;
  call made_;
  shm::wait_site site_;
  std::optional<shm::line_exchange> lines_;
  bool asked_ = false;
};

}  // namespace tutti::detail
