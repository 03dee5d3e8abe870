// SPDX-License-Identifier: Apache-2.0
//
// Repeats a native collective in the engine's lines, without the engine. Supersteps use it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "transport/shm/line_exchange.hpp"

namespace tutti::detail {

/// For a front end that executes calls of a collective in place of the engine, if the engine has
/// lines that all members read. Other members may make the calls by run_call(), and each member may
/// choose every time.
class native_substitute {
 public:
  explicit native_substitute(communicator_impl& of) noexcept;
  /// The engine's lines, if the last call of this collective may be repeated in them. Empty if it
  /// may not, because calls are compared, traced or executed by a schedule, or if there are none.
  std::optional<shm::line_exchange> lines_of(collective what) const;
  /// Whether a call may be executed in lines. It may not while something is under way on this rank,
  /// which the wait must progress.
  bool may_run() const noexcept { return active_.empty(); }
  /// Calls `step` with the sequence number of the call, for reports.
  template <class Step>
  [[gnu::always_inline]] void run(Step&& step) {
    const std::uint32_t id = next_id_++;
    guarded(of_, [&] { step(id); });
  }

 private:
  communicator_impl& of_;
  const std::vector<progressable*>& active_;
  std::uint32_t& next_id_;
};

}  // namespace tutti::detail
