// SPDX-License-Identifier: Apache-2.0
//
// Measures how groups are halved down to single ranks, in one process: `halving --ranks 1024`. All
// groups are kept until the last one is made. It reports the time per level and the memory per rank
// and level, for each way to make groups. Times are of all ranks from barrier to barrier, the least
// of several runs. Memory is what malloc has allocated meanwhile, divided by ranks and levels.
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <nlohmann/json.hpp>

#include <tutti/group.hpp>
#include <tutti/tutti.hpp>

namespace {

using namespace tutti;

struct figure {
  std::string name;
  int levels = 0;
  double us = 0, bytes = 0;  // of a level; of a rank and level
};

// Halves repeatedly: `half(group, upper)` returns one half of a group. `groups` receives all of
// them.
template <class Group, class Halve>
int halve(const Group& all, std::vector<Group>& groups, const Halve& half) {
  groups.push_back(all);
  int levels = 0;
  while (groups.back().size() > 1) {
    const Group& last = groups.back();
    Group next = half(last, last.rank() >= last.size() / 2);
    groups.push_back(std::move(next));
    ++levels;
  }
  return levels;
}

class measuring {
 public:
  measuring(const communicator& world, int runs, std::vector<figure>& figures)
      : world_(world), runs_(runs), figures_(figures) {}

  template <class Group, class Halve>
  void operator()(const char* name, const Group& all, const Halve& half) {
    figure f{name, 0, 1e30, 0};
    for (int run = 0; run < runs_; ++run) {
      std::vector<Group> groups;
      groups.reserve(40);
      world_.barrier();
      const std::size_t before = mallinfo2().uordblks;
      world_.barrier();
      const auto start = std::chrono::steady_clock::now();
      f.levels = halve(all, groups, half);
      world_.barrier();
      const double us =
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
      const std::size_t after = mallinfo2().uordblks;
      world_.barrier();
      const int levels = std::max(1, f.levels);
      f.us = std::min(f.us, us / levels);
      f.bytes = std::max(  // later runs reuse the communicators' memory of the first
          f.bytes, (static_cast<double>(after) - static_cast<double>(before)) / world_.size() / levels);
    }
    if (world_.rank() == 0) figures_.push_back(f);
  }

 private:
  const communicator& world_;
  int runs_;
  std::vector<figure>& figures_;
};

void measure_all(communicator& world, int runs, std::vector<figure>& figures) {
  measuring measure(world, runs, figures);
  const auto range = [](const communicator& of, bool upper) {
    const int n = of.size();
    return upper ? of.range(n / 2, n - 1) : of.range(0, n / 2 - 1);
  };
  const auto used = [](communicator made) {
    made.allreduce_single(send_buf(1.0), op(std::plus<>{}));
    return made;
  };
  const auto bins = [](const auto& of, bool upper) { return of.split_bin(2, upper); };
  measure("chain: split_bin(2)", chain(world), bins);
  measure("ring: split_bin(2)", ring(world), bins);
  measure("logchain: split_bin(2)", logchain(world), bins);
  measure("chain: split", chain(world), [](const chain& of, bool upper) { return of.split(upper); });
  measure("communicator: range", world, range);
  measure("communicator: range + allreduce", world,
          [&](const communicator& of, bool upper) { return used(range(of, upper)); });
  measure("communicator: split_bin(2)", world,
          [](const communicator& of, bool upper) { return *of.split_bin(2, upper); });
  measure("communicator: split", world, [](const communicator& of, bool upper) { return *of.split(upper); });
  measure("communicator: duplicate of a range", world,
          [&](const communicator& of, bool upper) { return range(of, upper).duplicate(); });
}

}  // namespace

int main(int argc, char** argv) {
  int ranks = 1024, runs = 5;
  std::string engine = "fibers";
  bool json = false;
  CLI::App app(
      "Measures time and memory of groups that are halved down to single ranks.\n\n"
      "Example: halving --ranks 1024 --json");
  app.add_option("--ranks", ranks, "number of ranks")->check(CLI::Range(1, 100000));
  app.add_option("--engine", engine, "fibers or threads");
  app.add_option("--runs", runs, "number of measurements, of which the fastest counts")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  std::vector<figure> figures;
  run_options o;
  o.engine = engine;
  o.ranks = ranks;
  tutti::run(o, [&](communicator& world) { measure_all(world, runs, figures); });
  if (json) {
    nlohmann::ordered_json out{{"engine", engine}, {"ranks", ranks}, {"figures", nlohmann::json::array()}};
    for (const figure& f : figures)
      out["figures"].push_back({{"name", f.name},
                                {"levels", f.levels},
                                {"us_a_level", f.us},
                                {"bytes_a_rank_and_level", f.bytes}});
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{:<40} {:>7} {:>12} {:>16}\n", fmt::format("{}, p = {}", engine, ranks), "levels", "us a level",
             "bytes a rank");
  for (const figure& f : figures)
    fmt::print("{:<40} {:>7} {:>12.1f} {:>16.0f}\n", f.name, f.levels, f.us, f.bytes);
}
