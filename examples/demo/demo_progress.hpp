// SPDX-License-Identifier: Apache-2.0
//
// Reports on standard error what the demo is doing: after one second, and then every five seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace demo {

class progress {
 public:
  /// Reports nothing if `what` is empty.
  explicit progress(std::string what) {
    if (what.empty()) return;
    printer_ = std::jthread([what = std::move(what)](std::stop_token done) {
      std::mutex mutex;
      std::condition_variable_any ended;
      std::unique_lock lock(mutex);
      for (int seconds = 1;; seconds = seconds < 5 ? 5 : seconds + 5) {
        const auto more = std::chrono::seconds(seconds == 1 ? 1 : seconds == 5 ? 4 : 5);
        ended.wait_for(lock, done, more, [] { return false; });
        if (done.stop_requested()) return;
        fmt::print(stderr, "demo: {} ... {} s\n", what, seconds);
      }
    });
  }

 private:
  std::jthread printer_;
};

}  // namespace demo
