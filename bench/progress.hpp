// SPDX-License-Identifier: Apache-2.0
//
// Reports the progress of a benchmark that takes minutes.
#pragma once

#include <chrono>
#include <cstdio>
#include <set>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

namespace bench {

// Writes messages and progress to stderr, so that the tables can be redirected.
class progress {
 public:
  void step(const std::string& what) {
    using namespace std::chrono;
    const auto elapsed = duration_cast<std::chrono::seconds>(steady_clock::now() - start_).count();
    const auto text = fmt::format("[{}:{:02}] {}", elapsed / 60, elapsed % 60, what);
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", text, terminal_ ? "" : "\n");
    std::fflush(stderr);
    pending_ = terminal_;
  }
  void report(const std::string& what) {
    clear();
    fmt::print(stderr, "{}\n", what);
  }
  void report_once(const std::string& what) {
    if (reported_.insert(what).second) report(what);
  }
  void clear() {
    if (pending_) fmt::print(stderr, "\r\033[K");
    pending_ = false;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool pending_ = false;
  std::set<std::string> reported_;
};

}  // namespace bench
