// SPDX-License-Identifier: Apache-2.0
//
// A connection over TCP, whose every step ends in time.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

struct addrinfo;

namespace tutti::lpf {

/// The other side is gone, or slow.
class wire_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class wire {
 public:
  using time = std::chrono::steady_clock::time_point;

  wire() = default;
  wire(wire&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  wire& operator=(wire&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~wire();

  /// These three give an empty one where there is none; errno says why of the first.
  static wire listening(const addrinfo& at);
  static wire connected(const addrinfo& to, time until);
  wire accepted(time until);
  explicit operator bool() const noexcept { return file_ >= 0; }

  // Throw wire_error.
  void say(std::uint64_t number, time until) { write(&number, sizeof number, until); }
  void say(const std::string& text, time until);
  std::uint64_t number(time until);
  std::string text(time until);

 private:
  explicit wire(int file) : file_(file) {}
  bool ready(short what, time until) const;
  void write(const void* data, std::size_t bytes, time until);
  void read(void* data, std::size_t bytes, time until);

  int file_ = -1;
};

}  // namespace tutti::lpf
