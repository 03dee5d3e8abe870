// SPDX-License-Identifier: Apache-2.0
//
// The network of a cluster has its delay and its rate. usage: round_trip DELAY_US RATE_MBIT, as one
// process on each of node1 and node2 of scripts/cluster. The clock is the oracle: no exchange is
// faster than the network, and the fastest of many is not much slower. The exchanges use a plain
// TCP connection, whose waits sleep. Waits of an MPI would measure the load of this machine.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr const char* port = "7777";

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  std::exit(1);
}
void demand(bool holds, const char* what) {
  if (!holds) fail(std::string(what) + ": " + std::strerror(errno));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int accepted_connection(const addrinfo& address) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  demand(bind(listener, address.ai_addr, address.ai_addrlen) == 0 && listen(listener, 1) == 0, "listen");
  const int connection = accept(listener, nullptr, nullptr);
  demand(connection >= 0, "accept");
  return connection;
}

// The other process may begin to listen later.
int made_connection(const addrinfo& address) {
  for (int i = 0; i < 500; ++i) {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, address.ai_addr, address.ai_addrlen) == 0) return connection;
    close(connection);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  fail("node1 accepts no connection");
}

int connection_of(bool listens) {
  addrinfo hints{}, *address = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo("node1", port, &hints, &address) != 0) fail("node1 has no address");
  const int connection = listens ? accepted_connection(*address) : made_connection(*address);
  freeaddrinfo(address);
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connection;
}

void send_all(int connection, std::size_t bytes) {
  const std::vector<char> block(bytes);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t sent = send(connection, block.data() + done, bytes - done, MSG_NOSIGNAL);
    demand(sent > 0, "send");
    done += static_cast<std::size_t>(sent);
  }
}
void receive_all(int connection, std::size_t bytes) {
  std::vector<char> block(bytes);
  demand(recv(connection, block.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes), "recv");
}

// The fastest of some exchanges: there and back one after another, or both ways at once.
double fastest_exchange(int connection, bool begins, bool at_once, int exchanges, std::size_t bytes) {
  double fastest = 1e9;
  for (int i = 0; i < exchanges; ++i) {
    const double start = seconds_now();
    if (at_once) {
      // A short exchange first, so that neither begins long before the other.
      if (begins) send_all(connection, 1);
      receive_all(connection, 1);
      if (!begins) send_all(connection, 1);
      std::thread sender([&] { send_all(connection, bytes); });
      receive_all(connection, bytes);
      sender.join();
    } else if (begins) {
      send_all(connection, bytes);
      receive_all(connection, bytes);
    } else {
      receive_all(connection, bytes);
      send_all(connection, bytes);
    }
    fastest = std::min(fastest, seconds_now() - start);
  }
  return fastest;
}

bool in_range(const char* what, double seconds, double min, double max) {
  const bool right = seconds >= min && seconds <= max;
  std::printf("%s%s: %.0f us, %.0f to %.0f expected\n", right ? "" : "FAILED: ", what, seconds * 1e6,
              min * 1e6, max * 1e6);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: round_trip DELAY_US RATE_MBIT");
  const double delay = std::atof(argv[1]) * 1e-6, bytes_per_second = std::atof(argv[2]) * 1e6 / 8;
  std::array<char, 64> host{};
  gethostname(host.data(), host.size() - 1);
  const bool begins = std::string("node1") != host.data();
  const int connection = connection_of(!begins);
  constexpr std::size_t length = 8 << 20;
  const double transfer = length / bytes_per_second;
  const double short_message = fastest_exchange(connection, begins, false, 500, 8);
  const double long_message = fastest_exchange(connection, begins, false, 3, length);
  const double both_ways = fastest_exchange(connection, begins, true, 3, length);
  if (!begins) return 0;
  // The bounds above allow for other processes that take the cores for a while.
  bool right = in_range("8 B there and back", short_message, 2 * delay, 2 * delay + 500e-6);
  right &= in_range("8 MiB there and back", long_message, 2 * (delay + transfer),
                    2 * (5 * delay + 1.5 * transfer));
  right &= in_range("8 MiB both ways at once", both_ways, 2 * delay + transfer, 6 * delay + 1.8 * transfer);
  if (right) std::puts("round_trip: passed");
  return right ? 0 : 1;
}
