// SPDX-License-Identifier: Apache-2.0
//
// Compares the shared-memory transport between two threads with that between two processes. The
// cases are a ping-pong of 8 bytes to 1 MiB, an allreduce of 8 bytes and a barrier. Both sides
// poll. The rounds alternate between threads and processes; the table shows the medians.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/shm/channel.hpp"
#include "transport/shm/line_exchange.hpp"
#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_messages.hpp"

namespace {

using namespace tutti::shm;
using clock_type = std::chrono::steady_clock;
using results = std::map<std::string, std::vector<double>>;

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// The time of one call in ns.
double time_of(int calls, const std::function<void(int)>& call) {
  for (int i = 0; i < calls / 10; ++i) call(i);
  const auto begin = clock_type::now();
  for (int i = 0; i < calls; ++i) call(i);
  return std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / calls;
}

struct polling final : wait_interface, waker {
  void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool, const wait_site&) override {
    while (!reached(word.load(std::memory_order_acquire), value)) process_memory::pause();
  }
  void pause(const wait_site&) override {}
  void begin_reading(const wait_site&) override {}
  void end_reading() noexcept override {}
  wakeup_flag& wakeup() noexcept override { return flag; }
  void ring(wakeup_flag&) noexcept override {}
  wakeup_flag flag;
};
struct process_polling final : process_waiter {
  process_polling() : process_waiter(1000000) {}
  void check() override {}
};

constexpr std::size_t sizes[] = {8, 1024, 4096, 32768, 262144, 1048576};
int calls_for(std::size_t bytes) { return bytes <= 4096 ? 20000 : 200; }
std::string name_of(std::size_t bytes) { return "ping-pong " + std::to_string(bytes); }

void use_threads(results& into) {
  polling w;
  wakeup_flag flags[2];
  channel there(0, 1, flags[0], flags[1], w, false), back(1, 0, flags[1], flags[0], w, false);
  direct_collectives d({{0, &flags[0]}, {1, &flags[1]}}, w);
  const auto side = [&](int me, results* out) {
    pin(me);
    polling mine;
    const wait_site site;
    channel &send = me == 0 ? there : back, &recv = me == 0 ? back : there;
    for (const std::size_t n : sizes) {
      std::vector<std::byte> data(n), target(n);
      const auto post = [&] {
        while (!send.has_space()) process_memory::pause();
        std::atomic<std::uint32_t> done{0};
        send.post(1, data.data(), n, &done);
        if (channel::is_rendezvous(n))
          while (done.load(std::memory_order_acquire) == 0) process_memory::pause();
      };
      const auto take = [&] {
        arrival a;
        while (!recv.find(1, a)) process_memory::pause();
        std::memcpy(target.data(), a.data, n);
        recv.consume(a);
      };
      const double ns = time_of(calls_for(n), [&](int) { me == 0 ? (post(), take()) : (take(), post()); });
      if (out) (*out)[name_of(n)].push_back(ns / 2);
    }
    std::uint32_t next = 0;
    line_exchange e(d, me, next, mine);
    const double ns = time_of(
        20000, [&](int i) { e.exchange(site, [&](std::byte* at) { std::memcpy(at, &i, sizeof i); }); });
    if (out) (*out)["allreduce 8"].push_back(ns);
    const double barrier = time_of(20000, [&](int) { e.exchange(site, [](std::byte*) {}); });
    if (out) (*out)["barrier"].push_back(barrier);
  };
  std::thread other(side, 1, nullptr);
  std::thread first(side, 0, &into);
  first.join(), other.join();
}

void exchange_by_processes(process_messages& m, std::size_t bytes, std::size_t cell_bytes, double& ns) {
  const int me = m.rank();
  std::vector<std::byte> data(bytes), target(bytes);
  auto& to = m.to(1 - me);
  auto& from = m.from(1 - me);
  const auto post = [&] {
    if (bytes <= cell_bytes) {
      while (!to.post(1, data.data(), bytes)) process_memory::pause();
      return;
    }
    send_request r{1, data.data(), bytes};
    for (to.start(r); !r.is_complete(); to.progress()) process_memory::pause();
  };
  const auto take = [&] {
    if (bytes <= cell_bytes) {
      const std::byte* found;
      while ((found = from.find(1, bytes)) == nullptr) process_memory::pause();
      process_memory::read(target.data(), found, bytes);
      from.consume();
      return;
    }
    recv_request r{1, target.data(), bytes};
    for (from.start(r); !r.is_complete(); from.progress()) process_memory::pause();
  };
  ns = time_of(calls_for(bytes), [&](int) { me == 0 ? (post(), take()) : (take(), post()); }) / 2;
}

// Writes the times of the sizes, of the allreduce and of the barrier.
void be_process(int me, int peer_pid, std::byte* memory, std::size_t by_address_above, double* times) {
  const auto l = process_messages::layout::of(2);
  const std::vector<std::byte*> blocks{memory + 4096, memory + 4096 + l.rank_bytes()};
  const std::vector<int> pids{me == 0 ? getpid() : peer_pid, me == 1 ? getpid() : peer_pid};
  auto* const arrived = reinterpret_cast<std::atomic<int>*>(memory + 2048);
  pin(me);
  process_messages m(l, memory, blocks, pids, me, {by_address_above, true, {}, 0});
  m.offer();
  for (++*arrived; *arrived < 2;) process_memory::pause();
  m.agree();
  for (++*arrived; *arrived < 4;) process_memory::pause();
  for (const std::size_t n : sizes) exchange_by_processes(m, n, l.cell_bytes, *times++);

  using collectives = node_collectives<process_memory>;
  std::byte* const lines = memory + 4096 + 2 * l.rank_bytes();
  collectives c({lines, lines + collectives::bytes(4096)}, {0, 1}, me, 4096, m.words());
  process_polling waiter;
  const auto mismatch = [](int, std::uint64_t) {};
  const auto add = [](void* sum, const std::byte* operand) {
    double one;
    std::memcpy(&one, operand, sizeof one);
    *static_cast<double*>(sum) += one;
  };
  const double value = 1;
  double sum = 0;
  *times++ = time_of(20000, [&](int) { c.allreduce(&value, &sum, 8, 1, add, waiter, mismatch); });
  *times = time_of(20000, [&](int) { c.barrier(2, waiter, mismatch); });
}

void use_processes(results& into, std::size_t by_address_above) {
  const auto l = process_messages::layout::of(2);
  const std::size_t bytes = 4096 + 2 * (l.rank_bytes() + node_collectives<process_memory>::bytes(4096));
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  double times[std::size(sizes) + 2];
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    be_process(1, parent, memory, by_address_above, times);
    _exit(0);
  }
  be_process(0, child, memory, by_address_above, times);
  waitpid(child, nullptr, 0);
  munmap(memory, bytes);
  const std::string suffix = by_address_above == ~std::size_t{0} ? ", cells" : ", copy";
  const double* time = times;
  for (const std::size_t n : sizes) into[name_of(n) + suffix].push_back(*time++);
  into["allreduce 8" + suffix].push_back(*time++);
  into["barrier" + suffix].push_back(*time);
}

}  // namespace

int main() {
  results all;
  for (int round = 0; round < 9; ++round) {
    use_threads(all);
    use_processes(all, ~std::size_t{0});
    use_processes(all, 8192);
  }
  const auto median = [&](const std::string& name) {
    auto& v = all[name];
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  std::printf("%-20s %12s %12s %12s   (ns, one way)\n", "", "threads", "cells", "copy");
  std::vector<std::string> names;
  for (const std::size_t n : sizes) names.push_back(name_of(n));
  for (const char* const one : {"allreduce 8", "barrier"}) names.emplace_back(one);
  for (const std::string& name : names)
    std::printf("%-20s %12.0f %12.0f %12.0f\n", name.c_str(), median(name), median(name + ", cells"),
                median(name + ", copy"));
}
