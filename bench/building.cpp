// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of building schedules: for every algorithm, the time to write the schedule of
// one rank, and its memory. It builds for ranks 0, 1, p / 2 and p - 1, and reports the worst; a
// time is the least of several tries. Nothing is executed, so the number of ranks is arbitrary.
//
// The goal for a schedule of O(log p) rounds, or of a ring: less than a millisecond and 64 KiB at p
// = 65536.
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "schedule/algorithm.hpp"

namespace {

using json = nlohmann::ordered_json;
using clock_type = std::chrono::steady_clock;

constexpr double max_us = 1000;
constexpr std::size_t max_bytes = 64 << 10;

struct cost {
  double us = 0;
  std::size_t bytes = 0, rounds = 0;  // as written: a loop's body counts once
};

cost cost_of(const tutti::detail::pure_algorithm& a, int ranks, int rank) {
  tutti::detail::shape s;
  s.what = a.what;
  s.size = ranks;
  s.rank = rank;
  s.in_place = has_restriction(a.restrictions, tutti::detail::restriction::in_place);
  s.parameter_values = a.default_values();
  if (has_restriction(a.restrictions, tutti::detail::restriction::inter)) s.first_group = ranks / 2;
  std::array<int, 4> near{};  // of the neighborhood collectives: two on either side
  for (int i = 0; i < 4; ++i)
    near[static_cast<std::size_t>(i)] = (rank + ranks + (i < 2 ? i - 2 : i - 1)) % ranks;
  if (is_neighborhood(a.what)) s.sources = s.destinations = near;

  cost c;
  double spent = 0;
  for (int attempt = 0; attempt < 20 && spent < 50e3; ++attempt) {
    const auto start = clock_type::now();
    tutti::detail::builder b;
    a.write(s, b);
    const tutti::detail::schedule made = b.finish();
    const double us = std::chrono::duration<double, std::micro>(clock_type::now() - start).count();
    c.us = attempt == 0 ? us : std::min(c.us, us);
    c.bytes = made.memory();
    c.rounds =
        static_cast<std::size_t>(std::count_if(made.items.begin(), made.items.end(), [](const auto& item) {
          return item.kind == tutti::detail::item_kind::round;
        }));
    spent += us;
  }
  return c;
}

std::string bytes_text(std::size_t bytes) {
  if (bytes < 10 * 1024) return fmt::format("{} B", bytes);
  return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures the cost of writing the schedule of every algorithm"};
  int ranks = 65536;
  std::vector<std::string> selected;
  bool as_json = false;
  app.add_option("--ranks", ranks, "Number of ranks")
      ->check(CLI::Range(1, 1 << 24))
      ->option_text("P [65536]");
  app.add_option("--algorithms", selected, "Algorithms whose name contains one of these")
      ->delimiter(',')
      ->option_text("TEXT,...");
  app.add_flag("--json", as_json, "Print a JSON array");
  app.footer("Examples:\n  building\n  building --ranks 1000 --algorithms allreduce,ring\n");
  CLI11_PARSE(app, argc, argv);

  json all = json::array();
  for (const tutti::detail::pure_algorithm* a : tutti::detail::catalogue()) {
    if (!selected.empty() && std::none_of(selected.begin(), selected.end(), [&](const std::string& part) {
          return a->name.find(part) != a->name.npos;
        }))
      continue;
    if (has_restriction(a->restrictions, tutti::detail::restriction::power_of_two) &&
        (ranks & (ranks - 1)) != 0)
      continue;
    if (has_restriction(a->restrictions, tutti::detail::restriction::even_ranks) && ranks % 2 != 0) continue;
    if (has_restriction(a->restrictions, tutti::detail::restriction::inter) && ranks < 2) continue;
    cost worst;
    for (const int rank : {0, 1 % ranks, ranks / 2, ranks - 1}) {
      const cost c = cost_of(*a, ranks, rank);
      worst = {std::max(worst.us, c.us), std::max(worst.bytes, c.bytes), std::max(worst.rounds, c.rounds)};
    }
    all.push_back({{"name", a->name},
                   {"ranks", ranks},
                   {"us", worst.us},
                   {"bytes", worst.bytes},
                   {"written_rounds", worst.rounds},
                   {"above", worst.us > max_us || worst.bytes > max_bytes}});
  }
  if (as_json) {
    fmt::print("{}\n", all.dump(1));
    return 0;
  }
  fmt::print("{:<44} {:>10} {:>12} {:>16}\n", fmt::format("p = {}", ranks), "us", "memory", "written rounds");
  for (const json& one : all)
    fmt::print("{:<44} {:>10.1f} {:>12} {:>16}{}\n", one["name"].get<std::string>(), one["us"].get<double>(),
               bytes_text(one["bytes"].get<std::size_t>()), one["written_rounds"].get<std::size_t>(),
               one["above"].get<bool>() ? "  above 1 ms or 64 KiB" : "");
  return 0;
}
