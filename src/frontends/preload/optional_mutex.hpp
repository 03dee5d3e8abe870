// SPDX-License-Identifier: Apache-2.0
//
// A mutex for programs that call MPI from several threads. For all other programs it costs one
// test.
#pragma once

#include <mutex>

namespace tutti::preload {

class turns {
 public:
  explicit turns(bool several) : several_(several) {}
  /// The lock is held during the lifetime of the returned object.
  [[nodiscard]] std::unique_lock<std::mutex> take() {
    return several_ ? std::unique_lock(lock_) : std::unique_lock(lock_, std::defer_lock);
  }

 private:
  const bool several_;
  std::mutex lock_;
};

}  // namespace tutti::preload
