// SPDX-License-Identifier: Apache-2.0
//
// Compares the choices of decision trees with those of Open MPI, MPICH, MVAPICH2 and Intel MPI on
// machines of 64 to 1024 ranks. Nothing is measured:
//
//   tutti   src/simulation simulates the choice of the trees on a machine of machines/. It agrees
//           with SimGrid (tests/simgrid), so the two times are comparable.
//   others  SimGrid's SMPI implements their selections and algorithms. It takes hours and always
//           gives the same times, so selectors/smpi.json keeps them (tests/simgrid/selector_times).
//
// With --simulated, src/simulation yields the times of the others too, for Open MPI and MPICH
// alone: SMPI needs days for 1024 ranks.
//
// A ratio is the time of tutti's choice divided by that of the fastest of the four. --best adds the
// ratio of the fastest candidate, which trees could reach.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "figures.hpp"
#include "progress.hpp"
#include "selection/tree_text.hpp"
#include "selectors/selector_times_file.hpp"
#include "selectors/simulated_choices.hpp"
#include "selectors/simulated_selectors.hpp"
#include "simulation/read_machine.hpp"

namespace {

using json = nlohmann::ordered_json;
using tutti::detail::selection;

// The simulator and SimGrid differ by less than that on a flat network.
constexpr double tolerance = 1.001;

struct options {
  std::string tree, builtin = "open_mpi-fast-network", times = TUTTI_SELECTOR_TIMES, json_file;
  std::vector<std::string> machines;
  std::vector<int> ranks;
  std::size_t worst = 10;
  bool best = false, cells = false, simulated = false;
};

struct compared_cell {
  bench::selector_cell other;
  std::optional<bench::simulated_choice> chosen, best;
  std::string problem;  // why `chosen` is empty

  double ratio() const { return ratio_of(chosen); }
  double best_ratio() const { return ratio_of(best); }

 private:
  double ratio_of(const std::optional<bench::simulated_choice>& c) const {
    return c ? c->seconds / other.seconds : std::numeric_limits<double>::infinity();
  }
};

struct summary {
  std::size_t cells = 0, as_fast = 0, best_cells = 0, best_as_fast = 0;
  double logarithms = 0, best_logarithms = 0;

  void add(const compared_cell& c) {
    if (c.other.fastest.empty()) return;
    if (c.chosen) {
      ++cells;
      as_fast += c.ratio() <= tolerance ? 1 : 0;
      logarithms += std::log(c.ratio());
    }
    if (c.best) {
      ++best_cells;
      best_as_fast += c.best_ratio() <= tolerance ? 1 : 0;
      best_logarithms += std::log(c.best_ratio());
    }
  }
  double geomean() const { return std::exp(logarithms / static_cast<double>(cells)); }
  double share() const { return static_cast<double>(as_fast) / static_cast<double>(cells); }
  double best_geomean() const { return std::exp(best_logarithms / static_cast<double>(best_cells)); }
  double best_share() const { return static_cast<double>(best_as_fast) / static_cast<double>(best_cells); }
};
using summaries = std::map<std::tuple<int, std::string>, summary>;  // by ranks and machine

selection trees_of(const options& o) {
  tutti::detail::document all = tutti::detail::builtin_document(o.builtin);
  if (!o.tree.empty()) {
    const auto [text, problem] = tutti::detail::read_tree_text(o.tree);
    if (!problem.empty()) throw std::runtime_error(problem);
    const tutti::detail::read_result read = tutti::detail::read_tree(text, o.tree);
    if (!read.good()) throw std::runtime_error(read.faults.front().text());
    all = tutti::detail::overlay(all, read.made);
  }
  selection s;
  s.trees = std::make_shared<const tutti::detail::document>(std::move(all));
  return s;
}

tutti::simulation::machine machine_named(const std::string& name) {
  const auto read =
      tutti::simulation::read_machine(tutti::simulation::builtin_machine(name), "machines/" + name + ".json");
  if (!read.good()) throw std::runtime_error(read.faults.front().text());
  return read.made;
}

template <class T>
bool wanted(const std::vector<T>& those, const T& one) {
  return those.empty() || std::find(those.begin(), those.end(), one) != those.end();
}

std::string name_of(const bench::selector_cell& c) {
  return fmt::format("{} {} {}", c.machine, c.ranks, c.collective) +
         (c.bytes != 0 ? " " + bench::size_name(c.bytes) : "");
}

std::vector<bench::selector_cell> cells_of(const options& o) {
  if (o.simulated) {
    const std::vector<std::string> machines{"eight-per-node", "fat-tree", "flat"};
    return bench::cells_without_times(o.machines.empty() ? machines : o.machines,
                                      o.ranks.empty() ? std::vector<int>{64, 256, 1024} : o.ranks);
  }
  std::vector<bench::selector_cell> all = bench::read_selector_times(o.times);
  std::erase_if(all, [&](const bench::selector_cell& c) {
    return c.fastest.empty() || !wanted(o.machines, c.machine) || !wanted(o.ranks, c.ranks);
  });
  if (all.empty())
    throw std::runtime_error(fmt::format("{} has no times for this machine and ranks", o.times));
  return all;
}

std::vector<compared_cell> compare(const options& o) {
  const selection trees = trees_of(o);
  std::vector<compared_cell> all;
  std::unique_ptr<tutti::simulation::simulator> simulator;
  std::tuple<std::string, int> simulated;
  bench::progress progress;
  for (const bench::selector_cell& cell : cells_of(o)) {
    if (simulator == nullptr || simulated != std::tuple(cell.machine, cell.ranks)) {
      simulated = {cell.machine, cell.ranks};
      simulator = std::make_unique<tutti::simulation::simulator>(machine_named(cell.machine), cell.ranks);
    }
    progress.step(name_of(cell));
    compared_cell c;
    c.other = cell;
    if (o.simulated) bench::add_simulated_times(*simulator, c.other);
    const tutti::simulation::simulated_call call = bench::call_of(cell);
    try {
      c.chosen = bench::choice_of_trees(*simulator, call, trees);
    } catch (const std::runtime_error& e) {
      c.problem = e.what();
    }
    if (o.best && !c.other.fastest.empty()) c.best = bench::fastest_candidate(*simulator, call, trees);
    all.push_back(std::move(c));
  }
  progress.clear();
  return all;
}

std::string microseconds(double seconds) { return bench::number(seconds * 1e6); }

std::string line_of(const compared_cell& c) {
  std::string line = fmt::format(
      "{:<45}{:>9} us {:<9}{:>9} us {:<34}{:>6}", name_of(c.other), microseconds(c.other.seconds),
      c.other.fastest, microseconds(c.chosen->seconds), c.chosen->algorithm, bench::number(c.ratio()));
  if (c.best)
    line += fmt::format("{:>9} us {:<34}{:>6}", microseconds(c.best->seconds), c.best->algorithm,
                        bench::number(c.best_ratio()));
  return line;
}

void print_summaries(const summaries& all, bool best) {
  fmt::print("{:<16}{:>6}{:>7}{:>13}{:>9}{}\n", "machine", "ranks", "cells", "tutti/others", "as fast",
             best ? fmt::format("{:>13}{:>9}", "best/others", "as fast") : "");
  for (const auto& [key, s] : all) {
    const auto& [ranks, machine] = key;
    fmt::print("{:<16}{:>6}{:>7}{:>13.2f}{:>7.0f} %{}\n", machine, ranks, s.cells, s.geomean(),
               100 * s.share(),
               best ? fmt::format("{:>13.2f}{:>7.0f} %", s.best_geomean(), 100 * s.best_share()) : "");
  }
}

void print(const options& o, std::vector<compared_cell> cells, const summaries& all) {
  print_summaries(all, o.best);
  int without = 0;
  for (const compared_cell& c : cells) {
    without += c.other.missing;
    if (!c.chosen) fmt::print("{}: {}\n", name_of(c.other), c.problem);
  }
  if (without != 0 && o.simulated)
    fmt::print("{} of {} choices of the others are too laborious\n", without, 2 * cells.size());
  else if (without != 0)
    fmt::print("{} of {} times of the others are missing; {} has the reasons\n", without, 4 * cells.size(),
               o.times);
  std::erase_if(cells, [](const compared_cell& c) { return !c.chosen || c.other.fastest.empty(); });
  if (!o.cells) {
    std::stable_sort(cells.begin(), cells.end(),
                     [](const auto& a, const auto& b) { return a.ratio() > b.ratio(); });
    cells.resize(std::min(cells.size(), o.worst));
  }
  if (!cells.empty())
    fmt::print("\n{}: the fastest of the others, tutti's choice, ratio\n", o.cells ? "cells" : "worst cells");
  for (const compared_cell& c : cells) fmt::print("{}\n", line_of(c));
}

json as_json(const options& o, const std::vector<compared_cell>& cells, const summaries& all) {
  json j{{"tree", o.tree}, {"builtin", o.builtin}, {"tolerance", tolerance}};
  for (const auto& [key, s] : all) {
    json one{{"machine", std::get<1>(key)},
             {"ranks", std::get<0>(key)},
             {"cells", s.cells},
             {"geomean", s.geomean()},
             {"as_fast", s.share()}};
    if (o.best) one.update({{"best_geomean", s.best_geomean()}, {"best_as_fast", s.best_share()}});
    j["summaries"].push_back(one);
  }
  for (const compared_cell& c : cells) {
    json one{{"machine", c.other.machine},
             {"ranks", c.other.ranks},
             {"collective", c.other.collective},
             {"bytes", c.other.bytes},
             {"fastest_other", {{"selector", c.other.fastest}, {"seconds", c.other.seconds}}}};
    if (c.other.fastest.empty())
      one["problem"] = "no time of the others";
    else if (c.chosen)
      one["chosen"] = {
          {"algorithm", c.chosen->algorithm}, {"seconds", c.chosen->seconds}, {"ratio", c.ratio()}};
    else
      one["problem"] = c.problem;
    if (c.best)
      one["best"] = {
          {"algorithm", c.best->algorithm}, {"seconds", c.best->seconds}, {"ratio", c.best_ratio()}};
    j["cells"].push_back(one);
  }
  return j;
}

int run(const options& o) {
  const std::vector<compared_cell> cells = compare(o);
  summaries all;
  for (const compared_cell& c : cells) all[{c.other.ranks, c.other.machine}].add(c);
  if (o.json_file.empty()) {
    print(o, cells, all);
    return 0;
  }
  const std::string text = as_json(o, cells, all).dump(2) + "\n";
  if (o.json_file == "-") {
    fmt::print("{}", text);
    return 0;
  }
  std::ofstream out(o.json_file);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{} cannot be written", o.json_file));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares simulated choices of decision trees with those of four MPIs");
  options o;
  app.add_option("tree", o.tree,
                 "A tree file over the built-in trees, as TUTTI_TREES names it; otherwise these alone");
  app.add_option("--builtin", o.builtin, "The built-in trees that choose")->capture_default_str();
  app.add_option("--machine", o.machines, "Of machines/, such as flat,fat-tree; all if none is given")
      ->delimiter(',');
  app.add_option("--ranks", o.ranks, "Such as 64,256; all if none are given")->delimiter(',');
  app.add_option("--times", o.times, "The times of the others, a file of selector_times")
      ->capture_default_str();
  app.add_flag("--simulated", o.simulated, "Simulate the choices of Open MPI and MPICH in place of --times");
  app.add_option("--worst", o.worst, "How many of the worst cells to print")->capture_default_str();
  app.add_flag("--cells", o.cells, "Print all cells");
  app.add_flag("--best", o.best, "Simulate all algorithms and compositions too (slow)");
  app.add_option("--json", o.json_file,
                 "Write the summaries and all cells to this file; - is standard output");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    fmt::print(stderr, "selectors: {}\n", e.what());
    return 1;
  }
}
