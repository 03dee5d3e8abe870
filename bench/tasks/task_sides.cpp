// SPDX-License-Identifier: Apache-2.0
#include "tasks/task_sides.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "figures.hpp"

namespace bench {
namespace {

constexpr int name_width = 57, width = 12;

bool less_is_better(const std::string& unit) { return unit == "us" || unit == "KiB"; }

// Returns the ratio of `mine` and `other`; above 1, `mine` is better.
double gain(const std::string& unit, double mine, double other) {
  return less_is_better(unit) ? other / mine : mine / other;
}

std::string heading(const task_setup& on) {
  return fmt::format("p = {}, {}", on.ranks,
                     on.workers == 1 ? "1 worker" : fmt::format("{} workers", on.workers));
}

}  // namespace

const std::vector<task_side>& task_sides() {
  static const std::vector<task_side> all{
      {"threads", "threads"},
      {"fibers", "fibers"},
      {"openmpi", "Open MPI", "tasks_openmpi", "mpirun.openmpi", {"--bind-to", "none"}},
      {"mpich", "MPICH", "tasks_mpich", "mpirun.mpich"},
      {"starpu", "StarPU", "tasks_starpu", "mpirun.openmpi", {"--bind-to", "none"}, true},
      {"starpu_yielding",
       "StarPU, y.",
       "tasks_starpu",
       "mpirun.openmpi",
       {"--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"},
       true},
  };
  return all;
}

void task_results::add(const task_side& side, const task_setup& on, const std::vector<task_figure>& figures) {
  // A new case follows its predecessor in this list, so that cases that only one side has keep
  // their position.
  auto next = std::find_if(cases_.begin(), cases_.end(), [&](const one_case& c) { return c.on >= on; });
  for (const task_figure& f : figures) {
    auto found = std::find_if(cases_.begin(), cases_.end(),
                              [&](const one_case& c) { return c.on == on && c.name == f.name; });
    if (found == cases_.end()) found = cases_.insert(next, {on, f.name, f.unit, ""});
    next = std::next(found);
    if (!f.against.empty()) found->against = f.against;
    const auto [best, fresh] = found->best.emplace(side.name, f.value);
    if (!fresh && gain(f.unit, f.value, best->second) > 1) best->second = f.value;
  }
}

const task_results::one_case* task_results::find(const task_setup& on, const std::string& name) const {
  for (const one_case& c : cases_)
    if (c.on == on && c.name == name) return &c;
  return nullptr;
}

std::optional<double> task_results::best(const one_case& c, const std::string& side) const {
  const auto found = c.best.find(side);
  if (found == c.best.end()) return std::nullopt;
  return found->second;
}

std::vector<task_side> task_results::present() const {
  std::vector<task_side> sides;
  for (const task_side& s : task_sides())
    if (std::any_of(cases_.begin(), cases_.end(), [&](const one_case& c) { return c.best.contains(s.name); }))
      sides.push_back(s);
  return sides;
}

void task_results::print() const {
  const auto sides = present();
  const task_setup* last = nullptr;
  for (const one_case& c : cases_) {
    if (last == nullptr || *last != c.on) {
      fmt::print("{}{:<{}}{:<10}", last == nullptr ? "" : "\n", heading(c.on), name_width, "");
      for (const task_side& s : sides) fmt::print("{:>{}}", s.title, width);
      fmt::print("\n");
    }
    last = &c.on;
    fmt::print("{:<{}}{:<10}", c.name, name_width, c.unit);
    for (const task_side& s : sides) {
      const auto mine = best(c, s.name);
      fmt::print("{:>{}}", mine ? number(*mine) : "", width);
    }
    fmt::print("\n");
  }
  print_gains(sides);
}

// Compares each figure with the peers, with the same work without tasks, and two cores with one.
void task_results::print_gains(const std::vector<task_side>& sides) const {
  const auto line = [&](const std::string& name, auto&& value) {
    std::string cells;
    bool any = false;
    for (const task_side& s : sides) {
      const std::optional<double> x = value(s);
      any = any || x.has_value();
      cells += fmt::format("{:>{}}", x ? number(*x) + "x" : "", width);
    }
    if (any) fmt::print("{:<{}}{}\n", name, name_width + 10, cells);
  };
  for (const task_side& peer : sides) {
    if (!peer.peer) continue;
    fmt::print("\nperformance as a multiple of that of {}\n", peer.title);
    for (const one_case& c : cases_) {
      line(fmt::format("{} ({})", c.name, heading(c.on)), [&](const task_side& s) -> std::optional<double> {
        const auto mine = best(c, s.name), other = best(c, peer.name);
        if (s.peer || !mine || !other || c.name.ends_with("alone on each worker")) return std::nullopt;
        return gain(c.unit, *mine, *other);
      });
    }
  }
  fmt::print("\nperformance as a multiple of that of the same work without tasks\n");
  for (const one_case& c : cases_) {
    const one_case* const plain = find(c.on, c.against);
    if (plain == nullptr) continue;
    line(fmt::format("{} ({})", c.name, heading(c.on)), [&](const task_side& s) -> std::optional<double> {
      const auto mine = best(c, s.name), other = best(*plain, s.name);
      if (!mine || !other) return std::nullopt;
      return gain(c.unit, *mine, *other);
    });
    const one_case* const one = find({1, 1}, c.against);
    if (one == nullptr || c.on == task_setup{1, 1}) continue;
    line(fmt::format("{} ({}, against one core)", c.name, heading(c.on)),
         [&](const task_side& s) -> std::optional<double> {
           const auto mine = best(c, s.name), other = best(*one, s.name);
           if (!mine || !other) return std::nullopt;
           return gain(c.unit, *mine, *other);
         });
  }
}

nlohmann::ordered_json task_results::json() const {
  auto out = nlohmann::ordered_json::array();
  for (const one_case& c : cases_) {
    nlohmann::ordered_json entry{
        {"ranks", c.on.ranks}, {"workers", c.on.workers}, {"name", c.name}, {"unit", c.unit}};
    if (!c.against.empty()) entry["against"] = c.against;
    for (const auto& [side, value] : c.best) entry["best"][side] = value;
    out.push_back(entry);
  }
  return out;
}

}  // namespace bench
