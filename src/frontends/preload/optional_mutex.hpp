// SPDX-License-Identifier: Apache-2.0
//
// Mutual exclusion for programs that call MPI from several threads; for all others it costs a test.
#pragma once

#include <mutex>

namespace tutti::preload {

class turns {
 public:
  explicit turns(bool several) : several_(several) {}
  /// Held as long as what is returned lives.
  [[nodiscard]] std::unique_lock<std::mutex> take() {
    return several_ ? std::unique_lock(lock_) : std::unique_lock(lock_, std::defer_lock);
  }

 private:
  const bool several_;
  std::mutex lock_;
};

}  // namespace tutti::preload
