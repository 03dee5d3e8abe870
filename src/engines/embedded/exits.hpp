// SPDX-License-Identifier: Apache-2.0
//
// A rank that calls exit() while others run would take them down with a status that says that all
// is well. It ends the process with a message, and a status that is not 0.
#pragma once

#include <atomic>

namespace tutti {

/// The ranks of a job that have not ended.
class ranks_under_way {
 public:
  explicit ranks_under_way(int ranks);
  ~ranks_under_way();
  ranks_under_way(const ranks_under_way&) = delete;
  ranks_under_way& operator=(const ranks_under_way&) = delete;

  /// Once for each rank that has run.
  void one_has_ended() noexcept;

 private:
  std::atomic<int> left_;
};

}  // namespace tutti
