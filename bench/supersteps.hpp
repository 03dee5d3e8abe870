// SPDX-License-Identifier: Apache-2.0
//
// Times supersteps of LPF and compares them with calls of tutti on the same communicator, and with
// other operations of the program (bench/bsp.cpp, bench/mpi/bsp_mpi.cpp). Times are those of the
// slowest process, the least of the medians of several batches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tutti/tutti.hpp>

#include "frontends/lpf/section.hpp"
#include "lpf/collectives.h"
#include "lpf/core.h"

namespace bench {

inline constexpr std::size_t long_bytes = std::size_t{1} << 20;

/// Memory, slots and a collectives object of one process.
struct bsp_process {
  lpf_t ctx;
  lpf_pid_t pid, nprocs;
  std::vector<std::byte> send_buffer, recv_buffer;
  double element = 1;
  lpf_memslot_t from, into, element_slot;
  lpf_coll_t coll;

  bsp_process(lpf_t context, lpf_pid_t me, lpf_pid_t all, std::size_t bytes = long_bytes)
      : ctx(context), pid(me), nprocs(all), send_buffer(bytes), recv_buffer(bytes) {
    lpf_resize_memory_register(ctx, 4);
    lpf_resize_message_queue(ctx, 256);
    lpf_sync(ctx, LPF_SYNC_DEFAULT);
    lpf_register_global(ctx, send_buffer.data(), send_buffer.size(), &from);
    lpf_register_global(ctx, recv_buffer.data(), recv_buffer.size(), &into);
    lpf_register_global(ctx, &element, sizeof element, &element_slot);
    lpf_collectives_init(ctx, pid, nprocs, 1, sizeof element, bytes, &coll);
    lpf_sync(ctx, LPF_SYNC_DEFAULT);
  }

  lpf_pid_t next() const noexcept { return (pid + 1) % nprocs; }
  void sync() { lpf_sync(ctx, LPF_SYNC_DEFAULT); }
  void put(std::size_t bytes, std::size_t offset = 0) {
    lpf_put(ctx, from, offset, next(), into, offset, bytes, LPF_MSG_DEFAULT);
  }
  void get(std::size_t bytes) { lpf_get(ctx, next(), from, 0, into, 0, bytes, LPF_MSG_DEFAULT); }
  void allreduce() {
    lpf_allreduce(coll, &element, element_slot, sizeof element,
                  [](std::size_t n, const void* array, void* value) {
                    for (std::size_t i = 0; i < n; ++i)
                      *static_cast<double*>(value) += static_cast<const double*>(array)[i];
                  });
  }
  void broadcast() { lpf_broadcast(coll, from, into, send_buffer.size(), 0); }
};

struct timed {
  std::string name;
  double us = 0;
  std::string against;  // name of the figure to compare with; empty: none
};

/// Times operations that all ranks of a world make together.
class stopwatch {
 public:
  stopwatch(tutti::communicator& world, int batches) : world_(world), batches_(batches) {}

  template <class Operation>
  double operator()(int repetitions, Operation&& operation) {
    double best = 0;
    for (int b = 0; b < batches_; ++b) {
      std::vector<double> samples;
      for (int s = 0; s < 11; ++s) {
        world_.barrier();
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < repetitions; ++i) operation();
        const double mine =
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
        samples.push_back(world_.allreduce_single(tutti::send_buf(mine), tutti::op(tutti::ops::max<>{})) /
                          repetitions);
      }
      std::nth_element(samples.begin(), samples.begin() + 5, samples.end());
      if (b == 0 || samples[5] < best) best = samples[5];
    }
    return best;
  }

 private:
  tutti::communicator& world_;
  int batches_;
};

/// Times all cases of this file on this process. `short_times`: how many small operations run
/// between two readings of the clock.
inline std::vector<timed> time_supersteps(tutti::communicator& world, bsp_process& on, int short_times,
                                          int batches) {
  using namespace tutti;
  stopwatch time(world, batches);
  const int long_times = std::max(1, short_times / 50);
  std::vector<timed> all;
  const auto add = [&](const char* name, int times, const char* against, auto&& operation) {
    all.push_back({name, time(times, operation), against});
  };
  double x = 1, y = 0;
  std::vector<std::byte> data(long_bytes);
  add("tutti barrier", short_times, "", [&] { world.barrier(); });
  add("tutti allreduce 8 B", short_times, "",
      [&] { world.allreduce(send_buf(x), recv_buf(y), op(std::plus<>{})); });
  add("tutti bcast 1 MiB", long_times, "",
      [&] { world.bcast(send_recv_buf(data), send_recv_count(static_cast<int>(long_bytes))); });
  add("lpf_sync", short_times, "tutti barrier", [&] { on.sync(); });
  add("put 8 B + sync", short_times, "tutti barrier", [&] {
    on.put(8);
    on.sync();
  });
  add("get 8 B + sync", short_times, "tutti barrier", [&] {
    on.get(8);
    on.sync();
  });
  add("64 puts of 8 B + sync", short_times, "tutti barrier", [&] {
    for (std::size_t i = 0; i < 64; ++i) on.put(8, 8 * i);
    on.sync();
  });
  add("allreduce 8 B + sync", short_times, "tutti allreduce 8 B", [&] {
    on.allreduce();
    on.sync();
  });
  add("broadcast 1 MiB + sync", long_times, "tutti bcast 1 MiB", [&] {
    on.broadcast();
    on.sync();
  });
  add("put 1 MiB + sync", long_times, "", [&] {
    on.put(long_bytes);
    on.sync();
  });
  return all;
}

inline double time_of(const std::vector<timed>& all, const std::string& name) {
  for (const timed& t : all)
    if (t.name == name) return t.us;
  return 0;
}

/// Prints a table or JSON. A ratio is the time divided by the time of the figure it is compared
/// with.
inline void print(const std::string& title, const std::vector<timed>& all, bool json) {
  nlohmann::ordered_json out{{"title", title}, {"figures", nlohmann::json::array()}};
  if (!json) fmt::print("{:<36} {:>10}  {:>6}\n", title, "us", "ratio");
  for (const timed& t : all) {
    const double base = t.against.empty() ? 0 : time_of(all, t.against);
    nlohmann::ordered_json one{{"name", t.name}, {"us", t.us}};
    if (base > 0) {
      one["against"] = t.against;
      one["ratio"] = t.us / base;
    }
    out["figures"].push_back(one);
    if (!json)
      fmt::print("{:<36} {:>10.3f}  {:>6}{}\n", t.name, t.us,
                 base > 0 ? fmt::format("{:.2f}", t.us / base) : "", base > 0 ? "  of " + t.against : "");
  }
  if (json) fmt::print("{}\n", out.dump(2));
}

}  // namespace bench
