// SPDX-License-Identifier: Apache-2.0
//
// Checked mode (TUTTI_CHECK=1). Before a call, every rank sends a digest of it to all others. All
// ranks throw the same error if two differ. The receiver compares counts that only a pair of ranks
// shares. call_dispatcher compares its calls, group_factory what makes communicators.
#pragma once

#include <vector>

#include "communicator/call_digest.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/control_calls.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

class checked_mode {
 public:
  checked_mode(const communicator_state& where, control_calls& control) noexcept
      : where_(where), control_(control) {}
  checked_mode(const checked_mode&) = delete;
  checked_mode& operator=(const checked_mode&) = delete;

  /// Whether this job runs in checked mode.
  bool is_on() const noexcept { return where_.this_rank().config.check; }

  /// Collective. Throws mismatch_error on all ranks if the calls differ, and peer_error if another
  /// rank rejects its arguments. Costs an allgather of a digest, and for vector forms one or two of
  /// counts.
  void compare(const call& c);
  /// Collective. The same for an operation that makes a communicator.
  void compare(const char* operation);
  /// The part of a rank that rejects the arguments of its call, in place of compare(): the other
  /// ranks throw a peer_error with this text.
  void report_rejection(const call& c, const char* why);
  /// Collective. Throws mismatch_error unless each edge is named at both ends, equally often.
  void compare_edges(const topology& graph);

 private:
  void compare(const char* operation, const call_digest& mine, const char* rejection);
  void exchange_rejections(const char* operation, int who, const char* rejection);
  void compare_counts(const char* operation, const call& c);

  const communicator_state& where_;
  control_calls& control_;
};

/// Collective, at the start of a job. Throws mismatch_error if ranks have other decision trees or
/// overrides, since they would select different algorithms.
void compare_settings(const communicator_state& where, control_calls& control);

}  // namespace tutti::detail
