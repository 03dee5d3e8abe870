// SPDX-License-Identifier: Apache-2.0
//
// Detects a rank that calls exit() while other ranks run. That would end them with a status of
// success. The handler prints a message and ends the process with a nonzero status.
#pragma once

#include <atomic>

namespace tutti::detail {

/// Counts the ranks of a job that have not ended.
class running_ranks {
 public:
  explicit running_ranks(int ranks);
  ~running_ranks();
  running_ranks(const running_ranks&) = delete;
  running_ranks& operator=(const running_ranks&) = delete;

  /// Called once for each rank that has run.
  void rank_ended() noexcept;

 private:
  std::atomic<int> running_;
};

}  // namespace tutti::detail
