// SPDX-License-Identifier: Apache-2.0
//
// Longer than a file should be: the choice of values, of calls and of samples is read together.
#include "proof/cases.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <tuple>

namespace tutti::proof {
namespace {

std::uint64_t hash(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::vector<std::uint32_t> tried_values(const pure_algorithm& a, const algorithm_parameter_range& k,
                                        int ranks) {
  const auto p = static_cast<std::uint32_t>(ranks);
  std::vector<std::uint32_t> all;
  switch (k.which) {
    case algorithm_parameter::k:
    case algorithm_parameter::radix:
      all = {2, 3, 4, p, k.default_value};
      break;
    case algorithm_parameter::segment: {
      // One, two and five elements, and the default, which does not cut small counts.
      const std::uint32_t element = std::max(8u, k.min);
      all = {element, 2 * element, 5 * element, k.default_value};
      break;
    }
    case algorithm_parameter::window:
      all = {1, 3, 8, k.default_value};
      break;
    case algorithm_parameter::blocks:
    case algorithm_parameter::leaders:
      all = {1, 2, 5, k.default_value};
      break;
    case algorithm_parameter::aggregate:
      all = {1, 2, 4, k.default_value, std::bit_floor(p)};
      break;
    case algorithm_parameter::region:
      if (has_restriction(a.restrictions, restriction::equal_regions)) {
        for (std::uint32_t d = 1; d <= p; ++d)
          if (p % d == 0 && (all.size() < 3 || d * 2 >= p)) all.push_back(d);
      } else {
        all = {1, 2, 3, p, k.default_value};
      }
      break;
  }
  // A region that must divide the ranks is not clamped to its bounds: it might not divide them
  // then.
  const bool exact =
      k.which == algorithm_parameter::region && has_restriction(a.restrictions, restriction::equal_regions);
  if (exact) std::erase_if(all, [&](std::uint32_t v) { return v < k.min || v > k.max; });
  for (std::uint32_t& v : all) v = std::clamp(v, k.min, k.max);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Every value of every parameter at least once; all combinations if they are few.
std::vector<algorithm_parameter_values> parameter_choices(const pure_algorithm& a, int ranks) {
  std::vector<std::vector<std::uint32_t>> lists;
  std::size_t all = 1, longest = 1;
  for (const algorithm_parameter_range& k : a.parameters) {
    lists.push_back(tried_values(a, k, ranks));
    all *= lists.back().size();
    longest = std::max(longest, lists.back().size());
  }
  if (all == 0) return {};  // no legal value, for example for a region
  std::vector<algorithm_parameter_values> choices;
  const bool every = all <= 12;
  for (std::size_t n = 0; n < (every ? all : 3 * longest); ++n) {
    algorithm_parameter_values v{};
    std::size_t rest = n;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::size_t size = lists[i].size();
      const std::size_t which = every ? rest % size : (n + i * (n / longest)) % size;
      rest /= size;
      v[static_cast<std::size_t>(a.parameters[i].which)] = lists[i][which];
    }
    if (std::find(choices.begin(), choices.end(), v) == choices.end()) choices.push_back(v);
  }
  return choices;
}

struct call_mode {
  bool in_place, ordered;
};
std::vector<call_mode> modes_of(const pure_algorithm& a) {
  std::vector<call_mode> all;
  for (const bool in_place : {false, true})
    for (const bool ordered : {false, true}) {
      if (ordered && (!combines(a.what) || has_restriction(a.restrictions, restriction::commutative)))
        continue;
      if (in_place &&
          (a.what == collective::barrier || a.what == collective::bcast ||
           a.what == collective::neighbor_allgatherv || a.what == collective::neighbor_alltoallv ||
           has_restriction(a.restrictions, restriction::not_in_place) ||
           has_restriction(a.restrictions, restriction::inter)))
        continue;
      if (!in_place && has_restriction(a.restrictions, restriction::in_place)) continue;
      all.push_back({in_place, ordered});
    }
  return all;
}

std::vector<int> sample_of(int first, int last) {
  std::vector<int> all;
  if (last - first <= 9) {
    for (int i = first; i < last; ++i) all.push_back(i);
  } else {
    all = {first, first + 1, (first + last) / 2, last - 1};
  }
  return all;
}

std::vector<int> all_of(int first, int last) {
  std::vector<int> all(static_cast<std::size_t>(last - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

// Roots, splits into groups and graphs: all that determines which ranks communicate. Either all of
// them, or a selection.
std::vector<case_options> call_shapes(const pure_algorithm& a, int ranks, bool every) {
  const auto pick = every ? all_of : sample_of;
  case_options w;
  w.what = a.what;
  w.ranks = ranks;
  const bool inter = has_restriction(a.restrictions, restriction::inter);
  const bool neighbors =
      a.what == collective::neighbor_allgatherv || a.what == collective::neighbor_alltoallv;
  std::vector<case_options> all;
  for (const int first : inter ? pick(1, ranks) : std::vector<int>{0})
    for (const int root : is_rooted(a.what) ? pick(0, ranks) : std::vector<int>{0})
      for (int graph = 0; graph < (neighbors ? 3 : 1); ++graph) {
        w.first_group = first;
        w.root = root;
        w.graph = graph;
        all.push_back(w);
      }
  return all;
}

// `tried_inputs` describes them.
std::vector<std::size_t> counts_of(const pure_algorithm& a, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  if (a.what == collective::barrier) return {0};
  if (has_restriction(a.restrictions, restriction::count_ge_ranks)) return {p, p + 1, 2 * p + 3};
  const bool whole_vectors = a.what == collective::bcast || a.what == collective::reduce ||
                             a.what == collective::allreduce || a.what == collective::scan ||
                             a.what == collective::exscan;
  // In block collectives a rank has p blocks, so short blocks are sufficient.
  if (!whole_vectors && ranks > 9) return {0, 1, 3, 7};
  if (p <= 2) return {0, 1, 2 * p + 3};
  return {0, 1, p - 1, 2 * p + 3};
}

// Every root, every split into two groups, and every fan-out or radix, at least once each,
// independent of the budget. So an algorithm that is wrong for a single one of them is found.
std::vector<case_options> sweep(const pure_algorithm& a, int ranks, const std::vector<call_mode>& modes,
                                const std::vector<algorithm_parameter_values>& parameter_values,
                                const std::vector<std::size_t>& counts) {
  case_options w;
  w.what = a.what;
  w.ranks = ranks;
  const bool inter = has_restriction(a.restrictions, restriction::inter);
  std::vector<case_options> all;
  const auto add = [&](int root, int first, const algorithm_parameter_values& with) {
    const std::size_t n = all.size();
    w.root = is_rooted(a.what) ? root % ranks : 0;
    w.first_group = inter ? 1 + first % (ranks - 1) : 0;
    w.in_place = modes[n % modes.size()].in_place;
    w.ordered = modes[(n + static_cast<std::size_t>(ranks)) % modes.size()].ordered;
    const auto allowed = [&](const call_mode& m) {
      return m.in_place == w.in_place && m.ordered == w.ordered;
    };
    if (std::none_of(modes.begin(), modes.end(), allowed)) w.ordered = modes[n % modes.size()].ordered;
    w.parameter_values = with;
    w.count = counts[(n / modes.size()) % counts.size()];
    all.push_back(w);
  };
  if (is_rooted(a.what) || inter)
    for (const int shift : {0, ranks / 2})
      for (int i = 0; i < ranks; ++i)
        add(i + shift, i, parameter_values[static_cast<std::size_t>(i) % parameter_values.size()]);
  for (const algorithm_parameter_range& k : a.parameters) {
    if (k.which != algorithm_parameter::k && k.which != algorithm_parameter::radix) continue;
    for (std::uint32_t v = std::max(k.min, 2u); v <= std::min(k.max, static_cast<std::uint32_t>(ranks) + 1);
         ++v) {
      algorithm_parameter_values with = parameter_values[v % parameter_values.size()];
      with[static_cast<std::size_t>(k.which)] = v;
      add(static_cast<int>(v), static_cast<int>(v), with);
    }
  }
  return all;
}

void set_element(const pure_algorithm& a, std::vector<case_options>& cases) {
  for (case_options& w : cases)
    for (const algorithm_parameter_range& r : a.parameters)
      if (r.which == algorithm_parameter::segment) w.element_bytes = std::max(8u, std::min(r.min, 4096u));
}

// All combinations, or `budget` of them, drawn.
std::vector<case_options> draw_cases(const pure_algorithm& a, int ranks,
                                     const std::vector<case_options>& shapes,
                                     const std::vector<std::size_t>& counts, std::size_t budget) {
  const auto modes = modes_of(a);
  const auto parameter_values = parameter_choices(a, ranks);
  const std::size_t all = modes.size() * parameter_values.size() * shapes.size() * counts.size();
  std::vector<case_options> cases;
  std::uint64_t seed = static_cast<std::uint64_t>(ranks);
  for (const char c : a.name) seed = hash(seed * 31 + static_cast<unsigned char>(c));
  for (std::size_t n = 0; n < std::min(all, budget); ++n) {
    std::size_t m, k, t, c;  // mode, parameter values, shape, count
    if (all <= budget) {
      c = n % counts.size();
      t = n / counts.size() % shapes.size();
      k = n / counts.size() / shapes.size() % parameter_values.size();
      m = n / counts.size() / shapes.size() / parameter_values.size();
    } else {
      const std::uint64_t drawn = hash(seed + n * 0x9e3779b97f4a7c15u);
      m = n % modes.size();
      k = (n / modes.size() + static_cast<std::size_t>(ranks)) % parameter_values.size();
      t = (n / modes.size() + drawn) % shapes.size();
      c = (drawn >> 32) % counts.size();
    }
    case_options w = shapes[t];
    w.in_place = modes[m].in_place;
    w.ordered = modes[m].ordered;
    w.parameter_values = parameter_values[k];
    w.count = counts[c];
    cases.push_back(w);
  }
  return cases;
}

std::vector<case_options> choose_cases(const pure_algorithm& a, int ranks,
                                       const std::vector<std::size_t>& counts, std::size_t budget) {
  std::vector<case_options> cases = draw_cases(a, ranks, call_shapes(a, ranks, false), counts, budget);
  const auto more = sweep(a, ranks, modes_of(a), parameter_choices(a, ranks), counts);
  cases.insert(cases.end(), more.begin(), more.end());
  set_element(a, cases);
  return cases;
}

// Adds every root, graph, mode and count with these parameters, with one split into two groups for
// each.
void add_every_call(const pure_algorithm& a, int ranks, const algorithm_parameter_values& parameter_values,
                    const std::vector<std::size_t>& counts, std::vector<case_options>& cases) {
  const bool inter = has_restriction(a.restrictions, restriction::inter);
  std::vector<case_options> shapes = call_shapes(a, ranks, false);
  if (is_rooted(a.what)) {
    shapes.assign(static_cast<std::size_t>(ranks), shapes.front());
    for (int r = 0; r < ranks; ++r) {
      case_options& w = shapes[static_cast<std::size_t>(r)];
      w.root = r;
      w.first_group = inter ? 1 + (7 * r + ranks / 2) % (ranks - 1) : 0;
    }
  } else if (inter) {
    shapes.resize(1);
    shapes[0].first_group = 1 + ranks / 2 % (ranks - 1);
  }
  for (case_options w : shapes)
    for (const call_mode& m : modes_of(a))
      for (const std::size_t count : counts) {
        w.in_place = m.in_place;
        w.ordered = m.ordered;
        w.parameter_values = parameter_values;
        w.count = count;
        cases.push_back(w);
      }
}

case_list rank_cases(const pure_algorithm& a, int ranks, int rank, const std::vector<std::size_t>& counts,
                     std::size_t budget) {
  case_list list;
  if (!serves(a, ranks)) return list;
  std::vector<case_options> shapes = call_shapes(a, ranks, false);
  if (is_rooted(a.what)) {
    const std::size_t others = shapes.size();
    for (std::size_t i = 0; i < others; ++i)
      if (shapes[i].root == 0 && rank != 0) {
        shapes.push_back(shapes[i]);
        shapes.back().root = rank;
      }
  }
  list.cases = draw_cases(a, ranks, shapes, counts, budget);
  set_element(a, list.cases);
  list.all_parameters = {
      modes_of(a).size() * parameter_choices(a, ranks).size() * shapes.size() * counts.size(),
      list.cases.size()};
  return list;
}

auto key_of(const case_options& w) {
  return std::tuple(w.first_group, w.root, w.graph, w.in_place, w.ordered, w.parameter_values, w.count);
}

}  // namespace

bool serves(const pure_algorithm& a, int ranks) {
  if (has_restriction(a.restrictions, restriction::power_of_two) &&
      !std::has_single_bit(static_cast<unsigned>(ranks)))
    return false;
  if (has_restriction(a.restrictions, restriction::even_ranks) && ranks % 2 != 0) return false;
  if (has_restriction(a.restrictions, restriction::inter) && ranks < 2) return false;
  return !parameter_choices(a, ranks).empty();
}

case_list result_cases(const pure_algorithm& a, int ranks, bool exhaustive) {
  case_list list;
  if (!serves(a, ranks)) return list;
  constexpr int max_ranks_all_calls = 64;
  const auto counts = counts_of(a, ranks);
  const auto parameter_values = parameter_choices(a, ranks);
  const auto default_value = a.default_values();
  std::vector<case_options> all;
  if (exhaustive || ranks <= max_ranks_all_calls) add_every_call(a, ranks, default_value, counts, all);
  const std::size_t shape_count = call_shapes(a, ranks, true).size();
  const std::size_t combinations = modes_of(a).size() * counts.size() * parameter_values.size() * shape_count;
  if (exhaustive) {
    for (case_options w : call_shapes(a, ranks, true))
      for (const call_mode& m : modes_of(a))
        for (const algorithm_parameter_values& k : parameter_values)
          for (const std::size_t count : counts) {
            w.in_place = m.in_place;
            w.ordered = m.ordered;
            w.parameter_values = k;
            w.count = count;
            all.push_back(w);
          }
  }
  const std::size_t budget = ranks <= 9 ? 1500 : ranks <= 16 ? 300 : ranks <= 33 ? 96 : 48;
  const auto drawn = choose_cases(a, ranks, counts, budget);
  all.insert(all.end(), drawn.begin(), drawn.end());
  set_element(a, all);
  // Calls that differ only in their counts are adjacent, so that their schedules are written once.
  std::sort(all.begin(), all.end(),
            [](const case_options& x, const case_options& y) { return key_of(x) < key_of(y); });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const case_options& x, const case_options& y) { return key_of(x) == key_of(y); }),
            all.end());
  const bool inter = has_restriction(a.restrictions, restriction::inter);
  std::set<std::tuple<int, int, bool, bool, std::size_t>> tried_defaults;
  // Only listed combinations count: a sweep has other parameter values too.
  std::size_t tried_all = 0;
  for (const case_options& w : all) {
    if (w.parameter_values == default_value)
      tried_defaults.emplace(w.root, w.graph, w.in_place, w.ordered, w.count);
    if (std::find(parameter_values.begin(), parameter_values.end(), w.parameter_values) !=
        parameter_values.end())
      ++tried_all;
  }
  const std::size_t splits = inter ? static_cast<std::size_t>(ranks - 1) : 1;
  list.default_parameters = {modes_of(a).size() * counts.size() * shape_count / splits,
                             tried_defaults.size()};
  list.all_parameters = {combinations, tried_all};
  list.cases = std::move(all);
  return list;
}

std::vector<case_options> claim_cases(const pure_algorithm& a, int ranks) {
  if (!serves(a, ranks)) return {};
  auto cases = choose_cases(a, ranks, {1}, ranks <= 9 ? 200 : ranks <= 33 ? 32 : 16);
  for (case_options& w : cases) w.blocks = blocks_are::even;
  return cases;
}

case_list rank_result_cases(const pure_algorithm& a, int ranks, int rank) {
  return rank_cases(a, ranks, rank, counts_of(a, ranks), 24);
}

case_list rank_claim_cases(const pure_algorithm& a, int ranks, int rank) {
  case_list list = rank_cases(a, ranks, rank, {1}, 8);
  for (case_options& w : list.cases) w.blocks = blocks_are::even;
  return list;
}

std::vector<std::size_t> divisible_counts(const case_options& w, std::span<const schedule> schedules) {
  if (w.what == collective::barrier) return {0};
  std::size_t parts = 1, pieces = 1, segment = 1;
  for (const schedule& s : schedules) {
    if (s.parts > 0) parts = std::lcm(parts, static_cast<std::size_t>(s.parts));
    segment = std::max(segment, s.segment_bytes / w.element_bytes);
    for (const step& one : s.steps)
      for (const place* p : {&one.source, &one.other, &one.target})
        if (p->pieces > 0) pieces = std::lcm(pieces, static_cast<std::size_t>(p->pieces));
  }
  const std::size_t unit = parts * pieces * segment;
  // With fewer elements than ranks the call may not be permitted (count_ge_ranks).
  const std::size_t count =
      std::max<std::size_t>(unit, (static_cast<std::size_t>(w.ranks) + unit - 1) / unit * unit);
  return segment > 1 ? std::vector<std::size_t>{count, 3 * count} : std::vector<std::size_t>{2 * count};
}

}  // namespace tutti::proof
