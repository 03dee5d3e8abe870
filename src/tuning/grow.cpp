// SPDX-License-Identifier: Apache-2.0
#include "tuning/grow.hpp"

#include <algorithm>

#include "tuning/candidates.hpp"
#include "tuning/region_grower.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

// Whether calls with these literals are in none of the first `count` regions.
bool excludes(const literals& known, const std::vector<tree_region>& regions, std::size_t count) {
  return std::all_of(
      regions.begin(), regions.begin() + static_cast<std::ptrdiff_t>(count),
      [&](const tree_region& r) { return ((known.values ^ r.when.values) & known.mask & r.when.mask) != 0; });
}

// Finds the region of the base that decides a call. `region_literals` receives the literals known
// of such calls: those of the region, and for each earlier region one condition that excludes them
// from it. None of these conditions is superfluous. Otherwise the calls of one region would form
// groups that contain one another.
std::size_t region_of(const std::vector<tree_region>& regions, const selection_context& s,
                      literals& region_literals) {
  const condition_bits truth = conditions_of(s);
  const auto found =
      std::find_if(regions.begin(), regions.end(), [&](const tree_region& r) { return r.when.hold(truth); });
  const auto at = static_cast<std::size_t>(found - regions.begin());
  const literals own = found == regions.end() ? literals{} : found->when;
  region_literals = own;
  for (std::size_t i = 0; i < at; ++i) {
    const literals& when = regions[i].when;
    const condition_bits broken = (truth ^ when.values) & when.mask, first = broken & (~broken + 1);
    if (region_literals.mask & broken) continue;
    region_literals.mask |= first;
    region_literals.values |= truth & first;
  }
  for (condition_bits left = region_literals.mask & ~own.mask; left != 0; left &= left - 1) {
    const condition_bits one = left & (~left + 1);
    const literals fewer{region_literals.mask & ~one, region_literals.values & ~one};
    if (excludes(fewer, regions, at)) region_literals = fewer;
  }
  return at;
}

void grow_half(const document& base, const std::vector<cell>& cells, const rules& r, tree_half half,
               document& made) {
  static const tree_node no_composition = [] {
    tree_node n;
    n.use.what = leaf::kind::pure;
    return n;
  }();
  for (std::size_t c = 0; c < collective_names.size(); ++c) {
    const std::vector<tree_region>& regions = base.of(half)[c];
    struct group {
      std::size_t region;
      literals region_literals;
      std::vector<point> points;
    };
    std::vector<group> groups;
    for (const cell& one : cells) {
      if (static_cast<std::size_t>(one.context.call.what) != c || timings(one, half).empty()) continue;
      literals region_literals;
      const std::size_t at = region_of(regions, one.context, region_literals);
      // the base has no choice to keep
      if (at == regions.size() && half == tree_half::pure) continue;
      auto g = std::find_if(groups.begin(), groups.end(), [&](const group& known) {
        return known.region == at && known.region_literals == region_literals;
      });
      if (g == groups.end()) g = groups.insert(g, {at, region_literals, {}});
      const std::uint64_t bytes = value_of(size_of(one.context.call.what), one.context);
      auto p = std::find_if(g->points.begin(), g->points.end(), [&](const point& known) {
        return known.context.call.ranks == one.context.call.ranks && known.bytes == bytes &&
               known.context.nodes == one.context.nodes &&
               known.context.ranks_per_node == one.context.ranks_per_node;
      });
      if (p == g->points.end())
        p = g->points.insert(p, {one.context, bytes, decide(base, one.context, half), {}});
      p->cells.push_back(&one);
    }
    auto& grown = (half == tree_half::pure ? made.pure : made.composition)[c];
    for (group& g : groups) {
      const tree_node& node = g.region < regions.size() ? regions[g.region].then : no_composition;
      for (tree_region& region : grow_region(node, g.region_literals, std::move(g.points), half, r))
        grown.push_back(std::move(region));
    }
    if (regions.empty() && !grown.empty() && grown.back().when.mask != 0)
      grown.push_back({{}, no_composition, {}});
  }
}

}  // namespace

bool beats(const timing& a, const timing& b, const rules& r) noexcept {
  return a.us * (1 + r.floor) < b.us && a.high() < b.low();
}

bool may_beat(const timing& a, const timing& b, const rules& r) noexcept {
  return a.high() >= b.low() && b.high() >= a.low() && a.low() * (1 + std::max(r.gain, r.floor)) < b.high();
}

leaf baseline(const selection_context& s, const leaf& current, tree_half half, const rules& r) {
  if (!r.beat_native) return current;
  leaf none;
  none.what = leaf::kind::pure;
  return half == tree_half::composition ? none : s.native ? leaf::native() : current;
}

grown grow(const document& base, const std::vector<cell>& cells, const rules& r) {
  grown g;
  g.made.conditions = base.conditions;
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    grow_half(base, cells, r, half, g.made);
  const document both = overlay(base, g.made);
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (const cell& one : cells) {
      const leaf &before = decide(base, one.context, half), &after = decide(both, one.context, half);
      const timing *old = find(timings(one, half), before), *fresh = find(timings(one, half), after);
      if (same(before, after) || fresh == nullptr) continue;
      g.changes.push_back({one.context.call.what, half, one.context.call.ranks, one.context.nodes, one.size,
                           before, after, old == nullptr ? 0 : old->us, fresh->us,
                           old == nullptr ? 0 : old->iqr, fresh->iqr});
    }
  return g;
}

std::string faults_of(const document& base, const document& made) {
  std::string all;
  const auto add = [&](const read_result& got) {
    for (const fault& f : got.faults) all += f.text() + "\n";
  };
  const read_result alone = read_tree(write_tree(made), "tuned", extent::partial);
  add(alone);
  if (alone.good()) add(read_tree(write_tree(overlay(base, alone.made)), "tuned", extent::whole));
  return all;
}

}  // namespace tutti::tuning
