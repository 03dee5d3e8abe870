// SPDX-License-Identifier: Apache-2.0
//
// Measures the look-up of one registration among many: BSPlib's by an address, LPF's by a slot, and
// a collectives object by its number: `registrations --registrations 1000`. With --max-ns NS it
// fails if a look-up takes longer.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include <CLI/CLI.hpp>

#include "frontends/bsp/collective_calls.hpp"
#include "frontends/bsp/memory_register.hpp"
#include "frontends/lpf/bsplib_registrations.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

// Returns the least time of several batches, in nanoseconds per look-up.
template <class Name, class Find>
double time_of(const std::vector<Name>& drawn, Find&& find) {
  double best = 1e9;
  std::size_t found = 0;
  for (int batch = 0; batch < 20; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Name& one : drawn) found += find(one);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / static_cast<double>(drawn.size()));
  }
  if (found != 20 * drawn.size()) std::abort();
  return best;
}

template <class Name>
std::vector<Name> random_names(const std::vector<Name>& names) {
  std::mt19937 dice(1);
  std::vector<Name> drawn(100'000);
  for (Name& one : drawn) one = names[dice() % names.size()];
  return drawn;
}

double by_address(std::size_t n) {
  lpf::registrations all;
  std::vector<std::vector<char>> areas;
  std::vector<const void*> names;
  for (std::size_t i = 0; i < n; ++i) {
    areas.emplace_back(64 + i * 37 % 500);
    names.push_back(areas.back().data());
    all.push(names.back(), areas.back().size(), 0);
  }
  all.apply_requests([](lpf_memslot_t) {});
  return time_of(random_names(names), [&](const void* name) { return all.find(name)->address == name; });
}

double by_slot(std::size_t n) {
  bsp::memory_register all;
  all.resize(n);
  all.at_sync();
  std::vector<bsp::slot> names(n);
  std::vector<char> area(n);
  for (std::size_t i = 0; i < n; ++i) all.add(true, area.data() + i, 1, 0, names[i]);
  return time_of(random_names(names), [&](bsp::slot s) { return all.find(s, 0, 1)->size == 1; });
}

double by_number(std::size_t n) {
  double took = 0;
  tutti::run({.engine = "threads", .ranks = 1}, [&](communicator& world) {
    bsp::collective_calls all(detail::impl_of(world));
    std::vector<bsp::process_set_id> names(n);
    for (bsp::process_set_id& one : names) one = all.make_set(0, 0, 1, {1, 1, 1}, 0).id;
    took = time_of(random_names(names), [&](bsp::process_set_id m) { return all.find(m)->id == m; });
  });
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t n = 1000;
  double limit_ns = 0;
  CLI::App app("Measures the cost of finding a registration.\n\nExample: registrations --registrations 1000");
  app.add_option("--registrations", n, "number of registrations")->check(CLI::Range(1, 1'000'000));
  app.add_option("--max-ns", limit_ns, "fail if a look-up takes more nanoseconds");
  CLI11_PARSE(app, argc, argv);
  const double figures[] = {by_address(n), by_slot(n), by_number(n)};
  std::printf(
      "%zu registrations, nanoseconds a lookup (goal: 20 among 1000)\n"
      "by address (BSPlib)  %6.1f\nby slot (LPF)        %6.1f\n"
      "collectives object   %6.1f\n",
      n, figures[0], figures[1], figures[2]);
  return limit_ns > 0 && *std::max_element(figures, figures + 3) > limit_ns ? 1 : 0;
}
