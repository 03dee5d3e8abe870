// SPDX-License-Identifier: Apache-2.0
//
// Detects a rank that calls exit() while other ranks run. That would end them with a status of
// success. The handler prints a message and ends the process with a nonzero status.
#pragma once

#include <atomic>

namespace tutti {

/// Counts the ranks of a job that have not ended.
class ranks_under_way {
 public:
  explicit ranks_under_way(int ranks);
  ~ranks_under_way();
  ranks_under_way(const ranks_under_way&) = delete;
  ranks_under_way& operator=(const ranks_under_way&) = delete;

  /// Called once for each rank that has run.
  void one_has_ended() noexcept;

 private:
  std::atomic<int> left_;
};

}  // namespace tutti
