// SPDX-License-Identifier: Apache-2.0
//
// A mutex for programs that call MPI from several threads. For all other programs it costs one
// test.
#pragma once

#include <mutex>

namespace tutti::preload {

class optional_mutex {
 public:
  explicit optional_mutex(bool multithreaded) : multithreaded_(multithreaded) {}
  /// The lock is held during the lifetime of the returned object.
  [[nodiscard]] std::unique_lock<std::mutex> lock() {
    return multithreaded_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }

 private:
  const bool multithreaded_;
  std::mutex mutex_;
};

}  // namespace tutti::preload
