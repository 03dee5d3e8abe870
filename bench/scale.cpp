// SPDX-License-Identifier: Apache-2.0
//
// Measures thousands of fibers in one process. The figures are the time to create them, the memory
// of each, and the times of an 8-byte allreduce and a barrier. Both calls are measured with the
// engine's own collective and with a schedule.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tutti/tutti.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using json = nlohmann::ordered_json;

double microseconds_since(clock_type::time_point start) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - start).count();
}

long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Returns the time of one call: the least of several loops, each after a barrier.
template <class Call>
double best_of(tutti::communicator& world, Call&& call) {
  double best = 1e30;
  for (int group = 0; group < 5; ++group) {
    constexpr int calls = 20;
    world.barrier();
    const auto start = clock_type::now();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, microseconds_since(start) / calls);
  }
  return best;
}

double allreduce_time(tutti::communicator& world) {
  long mine = 1, sum = 0;
  const std::span<const long> in(&mine, 1);
  const std::span<long> out(&sum, 1);
  const double time = best_of(
      world, [&] { world.allreduce(tutti::send_buf(in), tutti::recv_buf(out), tutti::op(std::plus<>{})); });
  if (sum != world.size()) throw std::runtime_error("wrong sum");
  return time;
}

json measure(int ranks) {
  json line{{"ranks", ranks}};
  const long before = resident_bytes();
  const auto start = clock_type::now();
  tutti::run_options o;
  o.engine = "fibers";
  o.ranks = ranks;
  tutti::run(o, [&](tutti::communicator& world) {
    world.barrier();
    const bool first = world.rank() == 0;
    if (first) line["set_up_ms"] = microseconds_since(start) / 1000;
    const double barrier = best_of(world, [&] { world.barrier(); });
    const double native = allreduce_time(world);
    if (first) {
      line["barrier_us"] = barrier;
      line["allreduce_native_us"] = native;
      line["resident_kib_a_rank"] = static_cast<double>(resident_bytes() - before) / 1024 / ranks;
    }
    world.barrier();
  });
  setenv("TUTTI_ALLREDUCE_ALGORITHM", "recursive_doubling", 1);
  tutti::run(o, [&](tutti::communicator& world) {
    const double schedule = allreduce_time(world);
    if (world.rank() == 0) line["allreduce_recursive_doubling_us"] = schedule;
  });
  unsetenv("TUTTI_ALLREDUCE_ALGORITHM");
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures many ranks in one process"};
  std::vector<int> ranks{64, 1024, 4096};
  bool as_json = false;
  app.add_option("--ranks", ranks, "Numbers of ranks")->delimiter(',')->check(CLI::Range(1, 1000000));
  app.add_flag("--json", as_json, "Print a JSON array");
  app.footer("Examples:\n  scale\n  scale --ranks 1024,16384 --json\n");
  CLI11_PARSE(app, argc, argv);
  json all = json::array();
  for (const int p : ranks) all.push_back(measure(p));
  if (as_json) {
    fmt::print("{}\n", all.dump(2));
    return 0;
  }
  fmt::print("{:>8} {:>12} {:>18} {:>12} {:>20} {:>32}\n", "ranks", "set-up ms", "resident KiB/rank",
             "barrier us", "allreduce 8 B us", "by recursive doubling us");
  for (const auto& l : all)
    fmt::print("{:>8} {:>12.1f} {:>18.1f} {:>12.1f} {:>20.1f} {:>32.1f}\n", l["ranks"].get<int>(),
               l["set_up_ms"].get<double>(), l["resident_kib_a_rank"].get<double>(),
               l["barrier_us"].get<double>(), l["allreduce_native_us"].get<double>(),
               l["allreduce_recursive_doubling_us"].get<double>());
  return 0;
}
