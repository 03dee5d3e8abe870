// SPDX-License-Identifier: Apache-2.0
//
// Measures the machine while collectives are measured: how fast its cores copy, and how long a
// cache line travels between cores. Figures are comparable only if these values are similar.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "memory.hpp"
#include "tuning/measure.hpp"

namespace bench {

using tutti::tuning::clock;
using tutti::tuning::seconds;

// Returns the cores that this process may use.
inline std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

// Bytes copied (not: read plus written) per second, in GB/s. No collective that moves data can be
// faster.
struct copy_speeds {
  struct entry {
    std::size_t bytes = 0;  // by each core at a time
    std::size_t cores = 0;
    double gb_per_s = 0;  // of all these cores together
  };
  std::vector<entry> entries;
};

inline double copy_speed(std::size_t bytes, std::span<const int> cores, double budget_ms = 30) {
  constexpr int samples = 5;
  const double guessed_s = static_cast<double>(bytes) / 10e9;
  const auto copies = static_cast<std::size_t>(std::max(1.0, budget_ms * 1e-3 / samples / guessed_s));
  std::barrier start(static_cast<std::ptrdiff_t>(cores.size()));
  std::vector<std::array<double, samples>> elapsed(cores.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      threads.emplace_back([&, i] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cores[i], &set);
        pthread_setaffinity_np(pthread_self(), sizeof set,
                               &set);  // if this fails, the scheduler decides
        const auto from = allocate(bytes / sizeof(double));
        const auto to = allocate(bytes / sizeof(double));
        std::memcpy(to.get(), from.get(), bytes);
        for (double& mine : elapsed[i]) {
          start.arrive_and_wait();
          const auto begin = clock::now();
          for (std::size_t copy = 0; copy < copies; ++copy) {
            std::memcpy(to.get(), from.get(), bytes);
            tutti::tuning::do_not_optimize(to.get());
          }
          mine = seconds(clock::now() - begin).count();
        }
      });
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (int s = 0; s < samples; ++s) {
    double slowest = 0;
    for (const auto& mine : elapsed) slowest = std::max(slowest, mine[static_cast<std::size_t>(s)]);
    best = std::min(best, slowest);
  }
  return static_cast<double>(bytes * copies * cores.size()) / best * 1e-9;
}

// Copies of 1 MiB and 64 MiB, on one core and on all cores at once.
inline copy_speeds copy_speed() {
  const auto cores = usable_cores();
  copy_speeds speeds;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{1} << 26}) {
    speeds.entries.push_back({bytes, 1, copy_speed(bytes, std::span(cores).first(1))});
    if (cores.size() > 1) speeds.entries.push_back({bytes, cores.size(), copy_speed(bytes, cores)});
  }
  return speeds;
}

// Returns the nanoseconds that a cache line takes from the first core to the second and back; 0
// with one core. The hypervisor of a virtual machine may move cores closer together or further
// apart at run time. That changes all collectives by a factor of two to four. So figures are
// comparable only if this value is similar.
inline double round_trip() {
  constexpr int trials = 8;
  constexpr int rounds = 1000;
  struct alignas(128) line {
    std::atomic<int> there{0};
    alignas(128) std::atomic<int> back{0};
  };
  const auto cores = usable_cores();
  if (cores.size() < 2) return 0;
  const auto pin = [](int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  };
  // The first trial only waits for both threads to start.
  const auto lines = std::make_unique<std::array<line, trials + 1>>();
  double best = std::numeric_limits<double>::infinity();
  {
    std::jthread echo([&] {
      pin(cores[1]);
      for (line& l : *lines) {
        for (int i = 1; i <= rounds; ++i) {
          while (l.there.load(std::memory_order_acquire) != i) {
          }
          l.back.store(i, std::memory_order_release);
        }
      }
    });
    // A separate thread, because the affinity of the caller must not change.
    std::jthread call([&] {
      pin(cores[0]);
      for (line& l : *lines) {
        const auto start = clock::now();
        for (int i = 1; i <= rounds; ++i) {
          l.there.store(i, std::memory_order_release);
          while (l.back.load(std::memory_order_acquire) != i) {
          }
        }
        best = std::min(best, seconds(clock::now() - start).count() / rounds);
      }
    });
  }
  return best * 1e9;
}

}  // namespace bench
