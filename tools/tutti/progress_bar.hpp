// SPDX-License-Identifier: Apache-2.0
//
// Shows the progress of a long operation on standard error: a bar on a terminal, a line for every
// tenth in a log.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include <fmt/core.h>
#include <unistd.h>

namespace tutti::tool {

class progress_bar {
 public:
  void show(const std::string& what, double part) {
    if (terminal_) {
      constexpr int width = 30;
      const int full = static_cast<int>(part * width);
      fmt::print(stderr, "\r\033[K[{}{}] {:3.0f} %  {}", std::string(static_cast<std::size_t>(full), '#'),
                 std::string(static_cast<std::size_t>(width - full), ' '), 100 * part, what);
      std::fflush(stderr);
    } else if (part >= next_) {
      fmt::print(stderr, "{:3.0f} %  {}\n", 100 * part, what);
      while (next_ <= part) next_ += 0.1;
    }
  }
  bool on_terminal() const noexcept { return terminal_; }
  void end() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  double next_ = 0;
};

}  // namespace tutti::tool
