// SPDX-License-Identifier: Apache-2.0
//
// cluster_relay: the network of a cluster on this machine (scripts/cluster), if the kernel cannot
// delay packets. Each node has a TAP device. This process is the switch between them, and hands
// over each frame when a link of the given rate and delay would.
//
// It runs before all other processes of the machine if it may, because the waiting ranks of the
// cluster take all cores.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <exception>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cluster_relay/shaped_switch.hpp"
#include "cluster_relay/tap_device.hpp"

namespace {

using namespace cluster_relay;

constexpr nanoseconds second = 1'000'000'000;
constexpr mac_address address_prefix{2, 0, 0, 0, 0, 0};  // the last byte is the port
constexpr std::size_t max_ports = 255;

nanoseconds now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * second + t.tv_nsec;
}

// Returns the name of the priority that this process has got.
const char* raise_priority() {
  prctl(PR_SET_TIMERSLACK, 1);
  sched_param priority{};
  priority.sched_priority = 50;
  if (sched_setscheduler(0, SCHED_FIFO, &priority) == 0) return "fifo";
  return setpriority(PRIO_PROCESS, 0, -20) == 0 ? "nice" : "normal";
}

class relay {
 public:
  relay(const std::vector<std::string>& namespaces, const std::string& name, link_limits limits)
      : switch_(namespaces.size(), limits), events_(epoll_create1(EPOLL_CLOEXEC)), buffer_(max_frame_bytes) {
    for (std::size_t port = 0; port < namespaces.size(); ++port) {
      mac_address address = address_prefix;
      address.back() = static_cast<std::uint8_t>(port + 1);
      taps_.push_back(create_tap(namespaces[port], name, address));
      epoll_event e{};
      e.events = EPOLLIN;
      e.data.u64 = port;
      if (epoll_ctl(events_, EPOLL_CTL_ADD, taps_.back(), &e) < 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
  }

  [[noreturn]] void run() {
    std::vector<epoll_event> ready(taps_.size());
    while (true) {
      switch_.advance(now(), [&](std::size_t port, const frame& f) {
        // A device that is down refuses the frame, and a link loses it then.
        [[maybe_unused]] const ssize_t written = write(taps_[port], f.content.data(), f.content.size());
      });
      report_drops();
      const auto next = switch_.next();
      const nanoseconds wait = next ? std::max<nanoseconds>(*next - now(), 0) : 0;
      const timespec timeout{wait / second, wait % second};
      const int count = epoll_pwait2(events_, ready.data(), static_cast<int>(ready.size()),
                                     next ? &timeout : nullptr, nullptr);
      if (count < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "epoll_pwait2 (Linux 5.11 has it)");
      for (int i = 0; i < count; ++i) receive_from(ready[i].data.u64);
    }
  }

 private:
  // Reads what the device has, but no more than a few frames, so that others do not wait for it.
  void receive_from(std::size_t port) {
    for (int i = 0; i < 16; ++i) {
      const ssize_t bytes = read(taps_[port], buffer_.data(), buffer_.size());
      if (bytes <= static_cast<ssize_t>(header_bytes)) return;
      const std::span<const std::byte> content(buffer_.data(), static_cast<std::size_t>(bytes));
      switch_.receive(port, ports_of(receiver_of(content), port),
                      {{content.begin(), content.end()}, wire_bytes_of(content)}, now());
    }
  }

  std::vector<std::size_t> ports_of(mac_address address, std::size_t from) const {
    std::vector<std::size_t> ports;
    const std::size_t port = address.back() - std::size_t{1};
    const bool to_group = (address.front() & 1) != 0;
    address.back() = 0;
    for (std::size_t i = 0; i < taps_.size(); ++i) {
      if (i != from && (to_group || (address == address_prefix && i == port))) ports.push_back(i);
    }
    return ports;
  }

  void report_drops() {
    if (switch_.dropped() == 0 || reported_) return;
    reported_ = true;
    fmt::print(stderr, "cluster: a queue of the relay is full, so it drops packets\n");
  }

  shaped_switch switch_;
  std::vector<int> taps_;
  int events_;
  std::vector<std::byte> buffer_;
  bool reported_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  link_limits limits{1e9, 0, 16 << 20};
  std::vector<std::string> namespaces{"/proc/self/ns/net"};
  std::string name = "eth0";
  bool check = false;
  CLI::App app(
      "The network of a cluster of scripts/cluster: creates a TAP device in each network namespace, prints\n"
      "\"ready\" and its priority (fifo, nice or normal), and relays their frames until it is ended.");
  app.add_option("namespaces", namespaces, "Files of network namespaces, such as /proc/7/ns/net")
      ->expected(1, max_ports);
  app.add_option("--rate", limits.bits_per_second, "Bits per second of each port in each direction")
      ->check(CLI::Range(1e3, 1e15));
  app.add_option("--delay", limits.delay, "Nanoseconds from port to port")
      ->check(CLI::Range(nanoseconds{0}, 1000 * second));
  app.add_option("--queue", limits.queue_bytes, "Bytes that wait for each direction of a port at most")
      ->check(CLI::Range(std::size_t{1} << 16, std::size_t{1} << 30));
  app.add_option("--name", name, "Name of the devices")->check([](const std::string& text) {
    return text.empty() || text.size() > 15 ? "must have 1 to 15 characters" : "";
  });
  app.add_flag("--check", check, "End after the devices have been created");
  CLI11_PARSE(app, argc, argv);
  try {
    relay r(namespaces, name, limits);
    if (check) return 0;
    fmt::print("ready {}\n", raise_priority());
    std::fflush(stdout);
    r.run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "cluster_relay: {}\n", error.what());
    return 1;
  }
}
