// SPDX-License-Identifier: Apache-2.0
//
// Measures the overhead of a call, in instructions (callgrind) and in time.
//
//   by_hand    an 8-byte allreduce of two ranks, written directly over shared-memory channels
//   schedule   the same by the schedule allreduce/recursive_doubling, called by world.allreduce()
//   native     the same by the engine's own collective (the choice of selection)
//   nonblocking, persistent   the same begun and waited for, and by a persistent request
//   decision   the extra cost if the count, and with it the algorithm, changes from call to call
//   over_mpi   calls of tutti that call MPI, and the same by hand (overhead/over_mpi.hpp)
//
// Two ranks are two fibers of one worker, so that nobody spins and every run executes the same
// instructions. This program runs a case itself under valgrind with N and with 11 N calls. The
// difference, divided by 10 N calls and by the ranks, is the cost of one call on one rank. It
// includes the switches between the ranks.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "callgrind.hpp"
#include "engines/engine_table.hpp"
#include "overhead/over_mpi.hpp"
#include "transport/shm/channel.hpp"
#include "tutti/tutti.hpp"

namespace {

using json = nlohmann::ordered_json;
using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

// A hand-written exchange: the code for this one case by a programmer who knows the shared-memory
// transport.
double by_hand(long calls, bool threads) {
  double elapsed = 0;
  tutti::detail::launch how;
  how.ranks = 2;
  how.workers = 1;
  how.pin = threads;
  const tutti::detail::outcome end =
      tutti::detail::find_engine(threads ? "threads" : "fibers")->run(how, [&](tutti::detail::endpoint& ep) {
        const int me = ep.rank(), other = 1 - me;
        tutti::shm::channel& out = ep.node()->between(me, other);
        tutti::shm::channel& in = ep.node()->between(other, me);
        const tutti::shm::wait_site site{"by_hand", "", "a message from", other, 0, 0};
        double mine = me, sum = 0;
        const auto start = clock_type::now();
        for (long i = 0; i < calls; ++i) {
          const auto tag = static_cast<std::uint64_t>(i);
          while (!out.has_space()) ep.wait(out.consumed_word(), out.consumed_value(), !threads, site);
          out.post(tag, &mine, sizeof mine, nullptr);
          tutti::shm::arrival a;
          while (!in.find(tag, a)) ep.wait(in.published_word(), in.published_value(), !threads, site);
          double theirs;
          std::memcpy(&theirs, a.data, sizeof theirs);
          sum = me == 0 ? mine + theirs : theirs + mine;
          in.consume(a);
          asm volatile("" : : "g"(&sum) : "memory");
        }
        if (me == 0) elapsed = seconds_since(start);
        if (sum != 1) std::abort();
      });
  if (end.failed_rank >= 0) throw std::runtime_error(end.text);
  return elapsed;
}

double by_library(long calls, const char* engine, int ranks, const char* algorithm_name) {
  double elapsed = 0;
  if (algorithm_name != nullptr) setenv("TUTTI_ALLREDUCE_ALGORITHM", algorithm_name, 1);
  tutti::run_options o;
  o.engine = engine;
  o.ranks = ranks;
  o.workers = 1;
  tutti::run(o, [&](tutti::communicator& world) {
    double mine = world.rank(), sum = 0;
    const std::span<double> in(&mine, 1), out(&sum, 1);
    const auto operation = [&] {
      world.allreduce(tutti::send_buf(in), tutti::recv_buf(out), tutti::op(std::plus<>{}));
      asm volatile("" : : "g"(&sum) : "memory");
    };
    const auto start = clock_type::now();
    for (long i = 0; i < calls; ++i) operation();
    if (world.rank() == 0) elapsed = seconds_since(start);
    if (sum != world.size() * (world.size() - 1) / 2.0) std::abort();
  });
  return elapsed;
}

tutti::run_options two_fibers() {
  tutti::run_options o;
  o.engine = "fibers";
  o.ranks = 2;
  o.workers = 1;
  return o;
}

// The same by iallreduce(...).wait(), or by start() and wait() of a persistent request.
double by_request(long calls, bool persistent) {
  const auto start = clock_type::now();
  tutti::run(two_fibers(), [&](tutti::communicator& world) {
    double mine = world.rank(), sum = 0;
    const std::span<double> in(&mine, 1), out(&sum, 1);
    auto plan = world.allreduce_init(tutti::send_buf(in), tutti::recv_buf(out), tutti::op(std::plus<>{}));
    for (long i = 0; i < calls; ++i) {
      if (persistent) {
        plan.start();
        plan.wait();
      } else {
        world.iallreduce(tutti::send_buf(in), tutti::recv_buf(out), tutti::op(std::plus<>{})).wait();
      }
      asm volatile("" : : "g"(&sum) : "memory");
    }
    if (sum != 1) std::abort();
  });
  return seconds_since(start);
}

// Calls of 1 and of 7 doubles in turn, or of one of these alone. 8 bytes use the engine's own
// collective, and 56 bytes a schedule.
double by_counts(long calls, std::size_t even, std::size_t odd) {
  const auto start = clock_type::now();
  tutti::run(two_fibers(), [&](tutti::communicator& world) {
    std::array<double, 7> mine{}, sum{};
    for (long i = 0; i < calls; ++i) {
      const std::size_t n = i % 2 == 0 ? even : odd;
      world.allreduce(tutti::send_buf(std::span<const double>(mine.data(), n)),
                      tutti::recv_buf(std::span<double>(sum.data(), n)), tutti::op(std::plus<>{}));
      asm volatile("" : : "g"(&sum) : "memory");
    }
  });
  return seconds_since(start);
}

double run_case(const std::string& what, long calls) {
  if (what == "short") return by_counts(calls, 1, 1);
  if (what == "longer") return by_counts(calls, 7, 7);
  if (what == "in_turn") return by_counts(calls, 1, 7);
  if (what == "nonblocking" || what == "persistent") return by_request(calls, what == "persistent");
  if (what == "by_hand") return by_hand(calls, false);
  if (what == "by_hand_on_threads") return by_hand(calls, true);
  if (what == "schedule_on_threads") return by_library(calls, "threads", 2, "recursive_doubling");
  if (what == "native_on_threads") return by_library(calls, "threads", 2, nullptr);
  if (what == "schedule") return by_library(calls, "fibers", 2, "recursive_doubling");
  if (what == "native") return by_library(calls, "fibers", 2, nullptr);
  throw std::runtime_error("there is no case " + what);
}

// Returns -1 if counting failed.
long instructions_per_call(const std::string& command, int ranks) {
  const auto each = bench::per_call(command, ranks);
  double sum = 0;
  for (const auto& [function, instructions] : each) sum += instructions;
  return each.empty() ? -1 : std::lround(sum);
}

// Lists every function on the path of a case's call, most expensive first.
int list_functions(const std::string& command, int ranks, bool as_json) {
  const auto each = bench::per_call(command, ranks);
  if (each.empty()) {
    fmt::print(stderr, "overhead: valgrind cannot be run, or the case failed\n");
    return 1;
  }
  std::vector<std::pair<double, std::string>> sorted;
  double sum = 0;
  for (const auto& [function, instructions] : each) {
    sorted.emplace_back(instructions, function);
    sum += instructions;
  }
  std::sort(sorted.rbegin(), sorted.rend());
  if (as_json) {
    json all = {{"instructions", sum}, {"functions", json::array()}};
    for (const auto& [instructions, function] : sorted)
      all["functions"].push_back({{"function", function}, {"instructions", instructions}});
    fmt::print("{}\n", all.dump(2));
    return 0;
  }
  for (const auto& [instructions, function] : sorted) fmt::print("{:>7.1f}  {}\n", instructions, function);
  fmt::print("{:>7.1f}  in all\n", sum);
  return 0;
}

constexpr std::array thread_cases{"by_hand_on_threads", "schedule_on_threads", "native_on_threads"};

// `me`: the path of this program, which starts itself under valgrind.
json measure_all(const std::string& me) {
  json all;
  const auto best_time = [&](const std::string& which) {
    double best = 1e9;
    for (int i = 0; i < 7; ++i) best = std::min(best, run_case(which, 200000) / 200000 * 1e6);
    return best;
  };
  for (const char* one : {"by_hand", "schedule", "native", "nonblocking", "persistent"}) {
    unsetenv("TUTTI_ALLREDUCE_ALGORITHM");
    all[one] = {{"instructions", instructions_per_call(me + std::string(" --case ") + one + " --calls ", 2)},
                {"us", best_time(one)}};
  }
  const auto counted = [&](const char* one) {
    return instructions_per_call(me + std::string(" --case ") + one + " --calls ", 2);
  };
  const long separate = counted("short") + counted("longer"), in_turn = counted("in_turn");
  all["decision"] = {{"instructions", in_turn - separate / 2}};
  // Across two threads only time is meaningful. The distance of the cores may change meanwhile, so
  // the cases take turns.
  std::array<double, 3> best{1e9, 1e9, 1e9};
  for (int turn = 0; turn < 15; ++turn)
    for (std::size_t i = 0; i < thread_cases.size(); ++i) {
      unsetenv("TUTTI_ALLREDUCE_ALGORITHM");
      best[i] = std::min(best[i], run_case(thread_cases[i], 100000) / 100000 * 1e6);
    }
  for (std::size_t i = 0; i < thread_cases.size(); ++i) all[thread_cases[i]] = {{"us", best[i]}};
  unsetenv("TUTTI_ALLREDUCE_ALGORITHM");
  all["over_mpi"] = bench::measure_over_mpi(me);
  return all;
}

void print_tables(const json& all) {
  fmt::print("cached 8-byte allreduce, two fibers of one worker, per rank\n{:<12} {:>14} {:>10}\n", "",
             "instructions", "us");
  for (const char* one : {"by_hand", "schedule", "native", "nonblocking", "persistent"})
    fmt::print("{:<12} {:>14} {:>10.4f}\n", one, all[one]["instructions"].get<long>(),
               all[one]["us"].get<double>());
  fmt::print("{:<12} {:>14}\n", "decision", all["decision"]["instructions"].get<long>());
  fmt::print("\nthe same, two threads on two cores\n");
  for (const char* one : thread_cases) fmt::print("{:<22} {:>19.4f}\n", one, all[one]["us"].get<double>());
  bench::print_over_mpi(all["over_mpi"]);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures instructions and time of the cached 8-byte allreduce"};
  std::string what, over_mpi;
  long calls = 0;
  bool as_json = false, functions = false;
  app.add_option("--case", what, "Run one case and print its time per call")
      ->check(CLI::IsMember({"by_hand", "schedule", "native", "nonblocking", "persistent", "short", "longer",
                             "in_turn", "by_hand_on_threads", "schedule_on_threads", "native_on_threads"}));
  app.add_option("--over-mpi", over_mpi, "Make one call over MPI, --calls times")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(bench::calls_over_mpi), std::end(bench::calls_over_mpi))));
  app.add_option("--calls", calls, "Number of calls of a case");
  app.add_flag("--functions", functions,
               "With --case: print the instructions of each function that a call runs");
  app.add_flag("--json", as_json, "Print one JSON object");
  app.footer(
      "Examples:\n  overhead\n  overhead --case schedule --calls 1000000\n  overhead --case native "
      "--functions\n  overhead --over-mpi alltoallv --functions\n"
      "  overhead --json\n");
  CLI11_PARSE(app, argc, argv);
  if (functions && what.empty() && over_mpi.empty()) {
    fmt::print(stderr, "overhead: --functions needs --case or --over-mpi\n");
    return 2;
  }
  if (!over_mpi.empty() && !functions) {
    bench::call_over_mpi(over_mpi, std::max(1L, calls));
    return 0;
  }
  if (!what.empty() && !functions) {
    const double elapsed = run_case(what, std::max(1L, calls));
    fmt::print("{} {:.4f} us\n", what, elapsed / static_cast<double>(std::max(1L, calls)) * 1e6);
    return 0;
  }
  char self[4096];
  const auto length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 1;
  self[length] = '\0';
  if (!what.empty()) return list_functions(std::string(self) + " --case " + what + " --calls ", 2, as_json);
  if (!over_mpi.empty())
    return list_functions(std::string(self) + " --over-mpi " + over_mpi + " --calls ", 1, as_json);
  const json all = measure_all(self);
  if (as_json)
    fmt::print("{}\n", all.dump(2));
  else
    print_tables(all);
  return 0;
}
