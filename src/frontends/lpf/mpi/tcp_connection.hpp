// SPDX-License-Identifier: Apache-2.0
//
// A TCP connection whose operations all have a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

struct addrinfo;

namespace tutti::lpf {

/// Thrown if the peer has closed the connection or is too slow.
class tcp_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class tcp_connection {
 public:
  using time = std::chrono::steady_clock::time_point;

  tcp_connection() = default;
  tcp_connection(tcp_connection&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  tcp_connection& operator=(tcp_connection&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~tcp_connection();

  /// These three functions return an empty connection if they fail. listen_on() then sets errno.
  static tcp_connection listen_on(const addrinfo& at);
  static tcp_connection connect_to(const addrinfo& to, time until);
  tcp_connection accept_next(time until);
  explicit operator bool() const noexcept { return file_ >= 0; }

  // These functions throw tcp_error.
  void send_number(std::uint64_t number, time until) { write(&number, sizeof number, until); }
  void send_text(const std::string& text, time until);
  std::uint64_t receive_number(time until);
  std::string receive_text(time until);

 private:
  explicit tcp_connection(int file) : file_(file) {}
  bool ready(short what, time until) const;
  void write(const void* data, std::size_t bytes, time until);
  void read(void* data, std::size_t bytes, time until);

  int file_ = -1;
};

}  // namespace tutti::lpf
