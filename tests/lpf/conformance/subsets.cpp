// SPDX-License-Identifier: Apache-2.0
//
// Tests collectives over some of the processes: every subset that bounds and a stride can describe,
// several in one superstep, disjoint and overlapping. A process that is no member of an object only
// syncs.
#include <algorithm>

#include "collective_job.hpp"

namespace {

using namespace suite;

std::vector<shape> some_calls(unsigned members, std::size_t turn) {
  std::vector<shape> shapes;
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    shape s{.what = kinds[i], .size = element_sizes[(i + turn) % 4], .num = 1 + (turn + i) % 4};
    s.root = static_cast<unsigned>((i + turn) % members);
    s.in_place = (turn + i) % 4 == 0;
    if (!s.in_place) s.unused = static_cast<unused_area>((i + turn) % 3);
    shapes.push_back(s);
  }
  return shapes;
}

void every_stride(const process& me) {
  me.resize(64, 16 * me.p + 16);
  std::size_t turn = 0;
  const auto of = [&](unsigned lo, unsigned hi, unsigned str) {
    if (!is_selected(++turn)) return;
    const team t = make_team(me, lo, hi, str, 9, 24, 1000);
    me.check(!t.member() || (t.coll.P == t.size && t.coll.s == t.rank), "P and s are of another process");
    const std::vector<shape> shapes = some_calls(t.size, turn);
    if (turn % 3 == 0)
      all_at_once(me, t, shapes);
    else
      one_by_one(me, t, {shapes[turn % 9], shapes[(turn + 4) % 9]});
    end_team(me, t);
  };
  if (me.p <= 5) {
    for (unsigned lo = 0; lo < me.p; ++lo)
      for (unsigned hi = lo + 1; hi <= me.p; ++hi)
        for (unsigned str = 1; str <= me.p + 1; ++str) of(lo, hi, str);
    of(0, me.p, ~0u);
    return;
  }
  dice d(me.p);
  for (int k = 0; k < (me.p > 100 ? 6 : 25); ++k) {
    const unsigned lo = static_cast<unsigned>(d.below(me.p)),
                   hi = lo + 1 + static_cast<unsigned>(d.below(me.p - lo));
    of(lo, hi, 1 + static_cast<unsigned>(d.below(me.p / 2)));
  }
}

// The calls on one object. All calls run in one superstep.
struct calls_on_object {
  team by;
  std::vector<shape> shapes;
};

void in_one_superstep(const process& me, const std::vector<calls_on_object>& all, std::size_t first) {
  std::vector<std::vector<std::unique_ptr<job>>> jobs;
  std::uint64_t text = 0;
  for (const calls_on_object& w : all) {
    auto& list = jobs.emplace_back();
    for (const shape& s : w.shapes) list.push_back(std::make_unique<job>(me, w.by, s, text++));
  }
  for (auto& list : jobs)
    for (auto& j : list) j->register_slots();
  me.sync();
  combine_at_most(100);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    for (auto& j : jobs[(first + i) % jobs.size()]) j->begin();
  me.sync();
  for (auto& list : jobs)
    for (auto& j : list) {
      j->verify();
      j->deregister_slots();
    }
  me.sync();
}

void disjoint(const process& me) {
  me.resize(100, 64 * me.p);
  const unsigned half = me.p / 2;
  for (std::size_t turn = 0; turn < (me.p > 16 ? 2 : 8 / thinning() + 1); ++turn) {
    // Members of one object make one call each; members of the other make several, or none in every
    // fourth superstep.
    const team even = make_team(me, 0, me.p, 2, 9, 24, 1000), odd = make_team(me, 1, me.p, 2, 9, 24, 1000);
    const team low = make_team(me, 0, half, 1, 9, 24, 1000), high = make_team(me, half, me.p, 1, 9, 24, 1000);
    in_one_superstep(
        me, {{even, {some_calls(even.size, turn)[turn % 9]}}, {odd, some_calls(odd.size, turn + 1)}}, me.pid);
    in_one_superstep(me,
                     {{low, {some_calls(low.size, turn)[(turn + 3) % 9]}},
                      {high, {some_calls(high.size, turn)[(turn + 5) % 9]}}},
                     me.pid);
    in_one_superstep(me, {{even, some_calls(even.size, turn)}, {odd, {}}}, 0);
    in_one_superstep(me, {{low, {}}, {high, {}}}, 0);
    for (const team& t : {even, odd, low, high}) end_team(me, t);
  }
}

// Every process is in at most three of the objects, and each begins with another one. Objects are
// made and used in different orders, so no process may wait for another.
void overlapping_subsets(const process& me) {
  me.resize(100, 64 * me.p);
  const unsigned p = me.p;
  for (std::size_t turn = 0; turn < (p > 16 ? 1 : 4 / thinning() + 1); ++turn) {
    constexpr std::size_t n = 4;
    const unsigned lo[n] = {0, p / 3, 0, 0}, hi[n] = {p - p / 3, p, p, p},
                   str[n] = {1, 1, p > 2 ? p - 1 : 1, 1};
    team t[n];
    const std::size_t first = (me.pid + turn) % n;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = (first + i) % n;
      t[k] = make_team(me, lo[k], hi[k], str[k], 9, 24, 1000);
    }
    std::vector<calls_on_object> all;
    for (std::size_t k = 0; k < n; ++k)
      all.push_back({t[k],
                     {some_calls(t[k].size, turn + k)[(turn + k) % 9],
                      some_calls(t[k].size, turn + k)[(turn + k + 4) % 9]}});
    in_one_superstep(me, all, first);
    in_one_superstep(me, all, n - 1 - first);
    for (std::size_t k = 0; k < n; ++k) end_team(me, t[(first + k) % n]);
  }
}

// A grid: each process is in a row and in a column, and half of them begin with the column.
void rows_and_columns(const process& me) {
  me.resize(100, 64 * me.p);
  unsigned width = 1;
  while ((width + 1) * (width + 1) <= me.p) ++width;
  const unsigned height = me.p / width, used = width * height;
  const unsigned row = me.pid / width, column = me.pid % width;
  const bool in_grid = me.pid < used, column_first = (row + column) % 2 == 1;
  const auto make_row = [&] { return make_team(me, row * width, (row + 1) * width, 1, 4, 24, 1000); };
  const auto make_column = [&] { return make_team(me, column, used, width, 4, 24, 1000); };
  team r{LPF_INVALID_COLL, width, ~0u}, c{LPF_INVALID_COLL, height, ~0u};
  if (in_grid && column_first) c = make_column(), r = make_row();
  if (in_grid && !column_first) r = make_row(), c = make_column();
  me.sync();
  for (std::size_t turn = 0; turn < (me.p > 16 ? 2 : 9 / thinning() + 1); ++turn)
    in_one_superstep(
        me, {{r, {some_calls(width, turn)[turn % 9]}}, {c, {some_calls(height, turn)[(turn + 2) % 9]}}},
        column_first ? 1 : 0);
  end_team(me, r);
  end_team(me, c);
}

// lpf_collectives_init() with fewer processes than there are, and an object within a superstep of
// others.
void first_processes(const process& me) {
  me.resize(64, 16 * me.p + 16);
  const unsigned some = me.p > 1 ? me.p - 1 : 1;
  team t{LPF_INVALID_COLL, some, me.pid < some ? me.pid : ~0u};
  if (t.member())
    me.needs(lpf_collectives_init(me.ctx, me.pid, some, 9, 24, 1000, &t.coll),
             "lpf_collectives_init of fewer");
  all_at_once(me, t, some_calls(some, 1));
  end_team(me, t);
}

constexpr suite::entry every[] = {
    {"every_stride", every_stride},
    {"disjoint", disjoint, 1000, false, 2},
    {"overlapping_subsets", overlapping_subsets, 1000, false, 3},
    {"rows_and_columns", rows_and_columns},
    {"first_processes", first_processes},
};

}  // namespace

const std::span<const suite::entry> suite::tests(every);
