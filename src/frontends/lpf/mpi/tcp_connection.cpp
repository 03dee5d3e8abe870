// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/mpi/tcp_connection.hpp"

#include <algorithm>
#include <cerrno>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tutti::lpf {
namespace {

constexpr std::uint64_t max_text_bytes = std::uint64_t{1} << 28;
constexpr int socket_type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

}  // namespace

tcp_connection::~tcp_connection() {
  if (file_ >= 0) close(file_);
}

tcp_connection tcp_connection::listen_on(const addrinfo& at) {
  tcp_connection made(socket(at.ai_family, socket_type, at.ai_protocol));
  if (!made) return {};
  const int yes = 1;
  setsockopt(made.file_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(made.file_, at.ai_addr, at.ai_addrlen) == 0 && listen(made.file_, SOMAXCONN) == 0) return made;
  const int error = errno;
  made = tcp_connection();
  errno = error;
  return {};
}

tcp_connection tcp_connection::connect_to(const addrinfo& to, time until) {
  tcp_connection made(socket(to.ai_family, socket_type, to.ai_protocol));
  if (!made) return {};
  if (connect(made.file_, to.ai_addr, to.ai_addrlen) == 0) return made;
  if (errno != EINPROGRESS || !made.ready(POLLOUT, until)) return {};
  int fault = 0;
  socklen_t bytes = sizeof fault;
  getsockopt(made.file_, SOL_SOCKET, SO_ERROR, &fault, &bytes);
  return fault == 0 ? std::move(made) : tcp_connection();
}

tcp_connection tcp_connection::accept_next(time until) {
  if (!ready(POLLIN, until)) return {};
  return tcp_connection(accept4(file_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

bool tcp_connection::ready(short what, time until) const {
  for (;;) {
    const auto remaining =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now())
            .count();
    pollfd one{file_, what, 0};
    const int found = poll(&one, 1, static_cast<int>(std::clamp<long long>(remaining + 1, 0, 1'000'000)));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
    if (remaining < 0) return false;
  }
}

void tcp_connection::write(const void* data, std::size_t bytes, time until) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    if (!ready(POLLOUT, until)) throw tcp_error("the send timed out");
    const ssize_t n = send(file_, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) throw tcp_error("the peer closed the connection");
    if (n <= 0) continue;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void tcp_connection::read(void* data, std::size_t bytes, time until) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    if (!ready(POLLIN, until)) throw tcp_error("the receive timed out");
    const ssize_t n = recv(file_, at, bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
      throw tcp_error("the peer closed the connection");
    if (n < 0) continue;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void tcp_connection::send_text(const std::string& text, time until) {
  send_number(std::uint64_t{text.size()}, until);
  write(text.data(), text.size(), until);
}

std::uint64_t tcp_connection::receive_number(time until) {
  std::uint64_t value = 0;
  read(&value, sizeof value, until);
  return value;
}

std::string tcp_connection::receive_text(time until) {
  const std::uint64_t length = receive_number(until);
  if (length > max_text_bytes) throw tcp_error("the peer sent an invalid message");
  std::string all(length, '\0');
  read(all.data(), all.size(), until);
  return all;
}

}  // namespace tutti::lpf
