// SPDX-License-Identifier: Apache-2.0
#include "tuning/region_grower.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "tuning/candidates.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

constexpr condition_bits split_conditions =
    bit(condition::power_of_two) | bit(condition::even_ranks) | bit(condition::count_ge_ranks);

// By the number of ranks.
using by_ranks = std::map<int, std::vector<const point*>>;
// A possible choice for a point, and its time.
struct option {
  leaf use;
  double us;
};

// The points that one region of the base decides, and the tree grown for them.
class region_grower {
 public:
  region_grower(const tree_node& base, const literals& region_literals, std::vector<point> points,
                tree_half half, const rules& r)
      : base_(base),
        region_literals_(both(region_literals, r.always)),
        points_(std::move(points)),
        half_(half),
        rules_(r) {}

  // The regions to insert before those of the base.
  std::vector<tree_region> regions() const {
    condition_bits needed = 0;
    for (const point& p : points_) {
      condition_bits common = split_conditions;
      for (const option& o : options(p, split_conditions)) common &= demands_of(o.use).conditions.mask;
      needed |= common;
    }
    constexpr auto pow2 = bit(condition::power_of_two), even = bit(condition::even_ranks),
                   many = bit(condition::count_ge_ranks);
    std::vector<tree_region> found;  // from general to specific conditions
    condition_bits last = 0;
    for (const condition_bits extra :
         {condition_bits{0}, many, even, even | many, pow2 | even, pow2 | even | many}) {
      // A power of two implies an even number, except for one rank. `even` is tested only if it is
      // needed.
      const condition_bits tested = extra & (extra & pow2 && !(needed & even) ? ~even : ~condition_bits{0});
      if ((tested & ~needed) != 0) continue;
      tree_region r;
      r.then = node(tested);
      if (found.empty() ? !rules_.states_all && same(r.then, base_)
                        : (last & ~tested) == 0 && same(r.then, found.back().then))
        continue;
      r.when = region_literals_;
      r.when.mask |= tested;
      r.when.values |= tested;
      add_demands(r.then, r.when);
      simplify(r.when);
      found.push_back(std::move(r));
      last = tested;
    }
    std::reverse(found.begin(), found.end());
    const collective what = points_[0].context.call.what;
    for (tree_region& r : found) r.then = reachable(r.then, what, r.when, all_values(what, r.when));
    return found;
  }

 private:
  void simplify(literals& when) const {
    const auto drop = [&](condition c) {
      when.mask &= ~bit(c);
      when.values &= ~bit(c);
    };
    const literals fixed = fixed_conditions(points_[0].context.call.what);
    when.mask &= ~fixed.mask;
    when.values &= when.mask;
    if (when.values & bit(condition::native)) drop(condition::inter);  // implied
  }

  bool allowed(const leaf& l, const selection_context& s, condition_bits extra) const {
    const demand d = demands_of(l);
    return d.beyond.empty() && d.conditions.hold(conditions_of(s)) &&
           (d.conditions.mask & split_conditions & ~extra & ~region_literals_.mask) == 0;
  }

  // Combines the timings of a choice over all cells of a point. `complete` is false if a cell lacks
  // a measurement.
  timing merged(const point& p, const leaf& l, bool& complete) const {
    timing all{l, 0, 0};
    complete = true;
    for (const cell* c : p.cells) {
      const timing* t = find(timings(*c, half_), l);
      if (t == nullptr) {
        complete = false;
        return all;
      }
      all.us += std::log(std::max(t->us, 1e-9));
      all.spread = std::max(all.spread, t->spread);
      all.below = std::max(all.below, t->below < 0 ? t->spread : t->below);
    }
    all.us = std::exp(all.us / static_cast<double>(p.cells.size()));
    return all;
  }
  // Returns whether the choice beats the baseline in at least one cell, loses by more than is
  // tolerated in none, and has a mean gain above rules_.gain. The current choice needs no such gain
  // to stay.
  bool wins(const point& p, const leaf& l, const leaf& base) const {
    bool any_win = false;
    for (const cell* c : p.cells) {
      const timing *one = find(timings(*c, half_), l), *other = find(timings(*c, half_), base);
      if (one == nullptr || other == nullptr || loses(*one, *other)) return false;
      any_win = any_win || beats(*one, *other, rules_);
    }
    bool complete = false;
    return any_win && (same(l, p.current) ||
                       merged(p, l, complete).us * (1 + rules_.gain) < merged(p, base, complete).us);
  }
  // Returns whether the measurements leave open which of two choices is faster.
  bool undecided(const point& p, const leaf& l, const leaf& base) const {
    return std::any_of(p.cells.begin(), p.cells.end(), [&](const cell* c) {
      const timing *one = find(timings(*c, half_), l), *other = find(timings(*c, half_), base);
      return one != nullptr && other != nullptr && is_unclear(*one, *other, rules_);
    });
  }

  bool loses(timing one, const timing& other) const {
    one.us /= 1 + rules_.tolerated_loss;
    return beats(other, one, rules_);
  }

  // The fastest choice and those that are equal to it within the noise, if they beat the baseline.
  // Otherwise the baseline, or the current choice if it may be as fast. In a fixed order, unless
  // times are exact.
  std::vector<option> options(const point& p, condition_bits extra) const {
    const leaf base = baseline(p.context, p.current, half_, rules_);
    bool complete = false;
    const timing base_timing = merged(p, base, complete);
    if (!complete) return {{p.current, 1}};
    std::vector<timing> champions;
    for (const timing& t : timings(*p.cells[0], half_)) {
      if (same(t.use, base) || !allowed(t.use, p.context, extra) || !wins(p, t.use, base)) continue;
      const timing all = merged(p, t.use, complete);
      if (complete) champions.push_back(all);
    }
    if (champions.empty()) {
      if (!same(base, p.current) && undecided(p, p.current, base)) return {{p.current, 1}};
      return {{base, base_timing.us}};
    }
    const timing best = *std::min_element(champions.begin(), champions.end(),
                                          [](const timing& a, const timing& b) { return a.us < b.us; });
    std::vector<option> all;
    for (const timing& t : champions)
      if (!beats(best, t, rules_)) all.push_back({t.use, t.us});
    std::sort(all.begin(), all.end(), [&](const option& a, const option& b) {
      return rules_.exact_times ? a.us < b.us : precedes(a.use, b.use);
    });
    return all;
  }

  // Chooses for the sizes of one number of ranks by dynamic programming. It minimizes the number of
  // changes between sizes. The next criteria are, in this order: to keep the current choice, to
  // agree with the previous number of ranks, to come first in options().
  std::vector<leaf> choose(const std::vector<const point*>& sizes, condition_bits extra,
                           const std::map<std::uint64_t, leaf>& before) const {
    struct path {
      double cost;
      std::size_t from;
    };
    std::vector<std::vector<option>> all;
    std::vector<std::vector<path>> paths;
    for (const point* p : sizes) {
      all.push_back(options(*p, extra));
      std::vector<path> here;
      const auto other = before.find(p->bytes);
      for (const option& o : all.back()) {
        double step_cost = rules_.exact_times ? std::log(o.us / all.back().front().us)
                                              : 1e-3 * static_cast<double>(&o - all.back().data());
        if (!same(o.use, p->current)) step_cost += 100;
        if (other != before.end() && !same(other->second, o.use)) step_cost += 10;
        path w{step_cost, 0};
        if (!paths.empty()) {
          w.cost = std::numeric_limits<double>::infinity();
          for (std::size_t i = 0; i < paths.back().size(); ++i) {
            const double cost =
                paths.back()[i].cost + step_cost + (same(all[all.size() - 2][i].use, o.use) ? 0 : 1000);
            if (cost < w.cost) w = {cost, i};
          }
        }
        here.push_back(w);
      }
      paths.push_back(std::move(here));
    }
    std::vector<leaf> chosen(sizes.size());
    std::size_t at = 0;
    for (std::size_t i = 1; i < paths.back().size(); ++i)
      if (paths.back()[i].cost < paths.back()[at].cost) at = i;
    for (std::size_t i = sizes.size(); i-- > 0; at = paths[i][at].from) chosen[i] = all[i][at].use;
    return chosen;
  }

  // Calls of one node and of several are different calls, and so are those with different numbers
  // of ranks per node. Nodes with different numbers of ranks, whose ranks_per_node is 0, get the
  // choice for the smallest measured number. Their own measurements count if there are no others.
  tree_node node(condition_bits extra) const {
    by_ranks one_node;
    std::map<std::uint64_t, by_ranks> by_ranks_per_node;  // of several nodes
    for (const point& p : points_) {
      if ((conditions_of(p.context) & extra) != extra) continue;
      by_ranks& of =
          p.context.nodes > 1 ? by_ranks_per_node[value_of(quantity::ranks_per_node, p.context)] : one_node;
      of[p.context.call.ranks].push_back(&p);
    }
    if (one_node.empty() && by_ranks_per_node.empty()) return base_;
    intervals all;
    if (by_ranks_per_node.empty()) return node_of(one_node, extra, all);
    if (by_ranks_per_node.size() > 1) by_ranks_per_node.erase(0);
    interval& nodes = all[static_cast<std::size_t>(quantity::nodes)];
    interval& per_node = all[static_cast<std::size_t>(quantity::ranks_per_node)];
    std::vector<tree_step> of_nodes, of_per_node;
    nodes = {1, 1};
    of_nodes.push_back({1, one_node.empty() ? restricted(base_, all) : node_of(one_node, extra, all), {}});
    nodes = {2, tree_step::open};
    per_node = {0, tree_step::open};
    for (auto at = by_ranks_per_node.begin(); at != by_ranks_per_node.end(); ++at) {
      const auto next = std::next(at);
      per_node.max =
          next == by_ranks_per_node.end() ? tree_step::open : boundary_between(at->first, next->first);
      of_per_node.push_back({per_node.max, node_of(at->second, extra, all), {}});
      per_node.min = per_node.max + 1;
    }
    of_nodes.push_back({tree_step::open, joined(quantity::ranks_per_node, std::move(of_per_node)), {}});
    return joined(quantity::nodes, std::move(of_nodes));
  }

  // The largest value that belongs to `low`: near the geometric mean.
  static std::uint64_t boundary_between(std::uint64_t low, std::uint64_t high) {
    const double mean = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
    return std::clamp(std::bit_floor(static_cast<std::uint64_t>(mean)), low, high - 1);
  }

  tree_node node_of(by_ranks& points, condition_bits extra, intervals all) const {
    std::vector<tree_step> steps;
    std::map<std::uint64_t, leaf> before;
    std::uint64_t lower_bound = static_cast<std::uint64_t>(points.begin()->first) / 2 + 1;
    interval& ranks = all[static_cast<std::size_t>(quantity::ranks)];
    if (lower_bound > 1) {
      ranks = {1, lower_bound - 1};
      steps.push_back({lower_bound - 1, restricted(base_, all), {}});
    }
    for (auto& [p, sizes] : points) {
      std::sort(sizes.begin(), sizes.end(), [](auto* a, auto* b) { return a->bytes < b->bytes; });
      const std::vector<leaf> chosen = choose(sizes, extra, before);
      ranks = {lower_bound, static_cast<std::uint64_t>(p)};
      if (rules_.open_ended && p == points.rbegin()->first) ranks.max = tree_step::open;
      steps.push_back({ranks.max, by_bytes(sizes, chosen, all), {}});
      before.clear();
      for (std::size_t i = 0; i < sizes.size(); ++i) before[sizes[i]->bytes] = chosen[i];
      lower_bound = ranks.max + 1;
    }
    if (!rules_.open_ended) {
      ranks = {lower_bound, tree_step::open};
      steps.push_back({tree_step::open, restricted(base_, all), {}});
    }
    return joined(quantity::ranks, std::move(steps));
  }

  tree_node by_bytes(const std::vector<const point*>& sizes, const std::vector<leaf>& chosen,
                     intervals within) const {
    const auto is_unchanged = [&](std::size_t i) {
      return !rules_.states_all && same(chosen[i], sizes[i]->current);
    };
    const auto as_leaf = [](const leaf& l) {
      tree_node n;
      n.use = l;
      n.use.from = {};
      return n;
    };
    if (sizes[0]->bytes == 0) return is_unchanged(0) ? restricted(base_, within) : as_leaf(chosen[0]);
    const quantity size = size_of(points_[0].context.call.what);
    interval& bytes = within[static_cast<std::size_t>(size)];
    std::vector<tree_step> steps;
    bytes = {0, 0};
    steps.push_back({0, restricted(base_, within), {}});
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint64_t here = sizes[i]->bytes;
      std::uint64_t upper_bound = here * 4;
      if (i + 1 < sizes.size()) upper_bound = boundary_between(here, sizes[i + 1]->bytes);
      bytes = {bytes.max + 1, upper_bound};
      steps.push_back({upper_bound, is_unchanged(i) ? restricted(base_, within) : as_leaf(chosen[i]), {}});
    }
    bytes = {bytes.max + 1, tree_step::open};
    steps.push_back({tree_step::open, restricted(base_, within), {}});
    return joined(size, std::move(steps));
  }

  const tree_node& base_;
  literals region_literals_;
  std::vector<point> points_;
  tree_half half_;
  const rules& rules_;
};

}  // namespace

literals both(literals a, const literals& b) noexcept {
  a.mask |= b.mask;
  a.values |= b.values;
  return a;
}

const std::vector<timing>& timings(const cell& c, tree_half half) noexcept {
  return half == tree_half::pure ? c.pure : c.composed;
}
const timing* find(const std::vector<timing>& all, const leaf& l) noexcept {
  for (const timing& t : all)
    if (same(t.use, l)) return &t;
  return nullptr;
}

quantity size_of(collective what) noexcept {
  return has_agreed_counts(what) ? quantity::total_bytes : quantity::bytes;
}

std::vector<tree_region> grow_region(const tree_node& base, const literals& region_literals,
                                     std::vector<point> points, tree_half half, const rules& r) {
  return region_grower(base, region_literals, std::move(points), half, r).regions();
}

}  // namespace tutti::tuning
