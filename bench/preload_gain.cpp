// SPDX-License-Identifier: Apache-2.0
//
// Measures an MPI program's collectives when tutti serves them, for Open MPI and MPICH. Each runs
// without the preload library, with it, and with it and a tuned tree. The program is native_<mpi>,
// which does not know tutti and checks every result. The protocol of all benchmarks measures it
// (protocol.hpp). No time makes this program fail.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "figures.hpp"
#include "preload_gain/instructions.hpp"
#include "preload_gain/jobs.hpp"

namespace {

using json = nlohmann::ordered_json;
using bench::preload_case;
using bench::preload_figures;
using bench::variant;

constexpr const char* examples = R"(
A figure with = after it is of a call that was passed to MPI, so the difference is noise.
Other variables, such as TUTTI_ALLREDUCE_ALGORITHM, reach the programs unchanged.
Examples:
  preload_gain
  preload_gain --quick --collectives allreduce,bcast
  preload_gain --tree site.json --json
  preload_gain --instructions)";

struct settings {
  bench::preload_settings jobs;
  bool as_json = false, instructions = false, quick = false;
};

settings parse(int argc, char** argv) {
  settings s;
  s.jobs.measure.sizes = {8, 1024, 65536, 1048576};
  s.jobs.measure.collectives = {"barrier",   "bcast",    "reduce", "allreduce", "gather",        "scatter",
                                "allgather", "alltoall", "scan",   "exscan",    "reduce_scatter"};
  CLI::App app("Measures the collectives of an MPI program without and with tutti's preload library.");
  app.footer(examples);
  bench::add_options(app, s.jobs.measure);
  app.add_option("--ranks", s.jobs.ranks, "Numbers of ranks of the jobs")
      ->check(CLI::Range(1, 4096))
      ->option_text(bench::with_default("P", s.jobs.ranks));
  app.add_option("--tree", s.jobs.tree, "A decision tree that tutti tune wrote; adds a third figure")
      ->check(CLI::ExistingFile)
      ->option_text("FILE");
  app.add_option("--repeat", s.jobs.repeat, "How often each program runs; the best run counts")
      ->check(CLI::Range(1, 1000))
      ->option_text(bench::with_default("TIMES", s.jobs.repeat));
  app.add_option("--timeout", s.jobs.timeout_s, "Time after which a job is ended")
      ->check(CLI::Range(1.0, 1e6))
      ->option_text(bench::with_default("SECONDS", s.jobs.timeout_s));
  app.add_flag("--instructions", s.instructions,
               "Measure only the cost of a call that is passed to MPI (needs valgrind)");
  app.add_flag("--json", s.as_json, "Print one JSON object");
  app.add_flag("--quick", s.quick, "Change the defaults to one round and a tenth of the time for each case");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  if (s.quick && app.count("--repeat") == 0) s.jobs.repeat = 1;
  if (s.quick && app.count("--budget-ms") == 0) s.jobs.measure.budget_ms /= 10;
  return s;
}

const char* name_of(variant v) {
  switch (v) {
    case variant::without:
      return "without";
    case variant::with:
      return "with";
    case variant::tuned:
      return "tree";
    case variant::again:
      return "again";
  }
  return "";
}

// Time without the library divided by the time with it: above 1, tutti is faster.
std::string ratio(const preload_figures& f, variant v) {
  const auto before = f.us.find(variant::without), now = f.us.find(v);
  if (before == f.us.end() || now == f.us.end() || now->second <= 0) return "?";
  const auto ran = f.ran.find(v);
  return bench::number(before->second / now->second) +
         (ran != f.ran.end() && ran->second == "native" ? "=" : " ");
}

// The noise: the program without the library, compared with itself.
void print_noise(const std::map<preload_case, preload_figures>& cells) {
  std::vector<double> ratios;
  for (const auto& [which, f] : cells)
    if (f.us.count(variant::without) != 0 && f.us.count(variant::again) != 0 && f.us.at(variant::again) > 0)
      ratios.push_back(f.us.at(variant::without) / f.us.at(variant::again));
  if (ratios.empty()) return;
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](std::size_t tenths) {
    return bench::number(ratios[(ratios.size() - 1) * tenths / 10]);
  };
  fmt::print("(without the library, measured twice: ratios of {} to {}, eight of ten within {} and {})\n",
             at(0), at(10), at(1), at(9));
}

void print_table(const std::string& title, const std::map<preload_case, preload_figures>& cells,
                 const bench::preload_settings& s) {
  const bool tuned = !s.tree.empty();
  fmt::print(
      "\n{}, p = {}: microseconds without the library, and that time as a multiple of the time with it{}\n",
      title, s.ranks, tuned ? ", and as with " + s.tree : "");
  fmt::print("{:<16}", "");
  for (const std::size_t bytes : s.measure.sizes)
    fmt::print("{:>{}}", bench::size_name(bytes), tuned ? 25 : 17);
  fmt::print("\n{:<16}", "");
  for (std::size_t i = 0; i < s.measure.sizes.size(); ++i)
    fmt::print("{:>9}{:>8}{}", "us", "with ", tuned ? fmt::format("{:>8}", "tree ") : "");
  fmt::print("\n");
  for (const std::string& what : s.measure.collectives) {
    fmt::print("{:<16}", what);
    for (const std::size_t bytes : s.measure.sizes) {
      const auto at = cells.find({what, what == "barrier" ? 0 : bytes});
      if (at == cells.end()) continue;
      const auto us = at->second.us.find(variant::without);
      fmt::print("{:>9}{:>8}", us == at->second.us.end() ? "?" : bench::number(us->second),
                 ratio(at->second, variant::with));
      if (tuned) fmt::print("{:>8}", ratio(at->second, variant::tuned));
      if (what == "barrier") break;
    }
    fmt::print("\n");
  }
  print_noise(cells);
}

json as_json(const settings& s, const std::vector<bench::preload_mpi>& mpis,
             const bench::preload_results& results) {
  json all{{"schema", "tutti/bench-preload/1"}, {"ranks", s.jobs.ranks}, {"tree", s.jobs.tree}};
  for (const auto& mpi : mpis) {
    json cells = json::array();
    for (const auto& [which, figures] : results.at(mpi.name)) {
      json one{{"collective", which.first}, {"bytes", which.second}};
      for (const auto& [v, us] : figures.us) one["us"][name_of(v)] = us;
      for (const auto& [v, ran] : figures.ran) one["ran"][name_of(v)] = ran;
      cells.push_back(one);
    }
    all["mpis"][mpi.name] = {{"library", mpi.library}, {"cases", cells}};
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const settings s = parse(argc, argv);
  try {
    bench::progress log;
    const auto mpis = bench::find_mpis(log);
    if (mpis.empty()) {
      fmt::print(stderr, "preload_gain: nothing can be measured\n");
      return 1;
    }
    if (s.instructions) {
      const json counted = bench::count_instructions(mpis, log);
      if (s.as_json)
        fmt::print("{}\n", counted.dump(2));
      else
        bench::print_instructions(counted);
      return 0;
    }
    const auto results = bench::run_jobs(s.jobs, mpis, log);
    if (s.as_json) {
      fmt::print("{}\n", as_json(s, mpis, results).dump(2));
      return 0;
    }
    for (const auto& mpi : mpis) print_table(mpi.title, results.at(mpi.name), s.jobs);
  } catch (const std::exception& error) {
    fmt::print(stderr, "preload_gain: {}\n", error.what());
    return 1;
  }
  return 0;
}
