// SPDX-License-Identifier: Apache-2.0
#include "tuning/tree_nodes.hpp"

#include <algorithm>
#include <utility>

namespace tutti::tuning {

bool same(const leaf& a, const leaf& b) noexcept {
  if (a.what != b.what) return false;
  return a.what == leaf::kind::algorithm  ? a.chosen == b.chosen
         : a.what == leaf::kind::composed ? a.composed == b.composed
                                          : true;
}

bool same(const tree_node& a, const tree_node& b) noexcept {
  if (a.is_leaf() || b.is_leaf()) return a.is_leaf() && b.is_leaf() && same(a.use, b.use);
  return a.by == b.by && std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                                    [](const tree_step& x, const tree_step& y) {
                                      return x.upper_bound == y.upper_bound && same(x.then, y.then);
                                    });
}

tree_node restricted(const tree_node& n, intervals within) {
  if (n.is_leaf()) return n;
  interval& here = within[static_cast<std::size_t>(n.by)];
  const interval all = here;
  std::vector<tree_step> steps;
  std::uint64_t lower_bound = 0;
  for (const tree_step& s : n.steps) {
    here = {std::max(all.min, lower_bound), std::min(all.max, s.upper_bound)};
    if (here.min <= here.max) steps.push_back({s.upper_bound, restricted(s.then, within), s.from});
    if (s.upper_bound == tree_step::open) break;
    lower_bound = s.upper_bound + 1;
  }
  return joined(n.by, std::move(steps));
}

tree_node reachable(const tree_node& n, collective what, const literals& when, value_ranges within) {
  if (n.is_leaf()) return n;
  const auto q = static_cast<std::size_t>(n.by);
  const value_range all = within[q];
  std::vector<tree_step> steps;
  std::uint64_t lower_bound = 0;
  for (const tree_step& s : n.steps) {
    within[q] = {std::max(all.min, lower_bound), std::min(all.max, s.upper_bound)};
    if (possible(what, when, within))
      steps.push_back({s.upper_bound, reachable(s.then, what, when, within), s.from});
    if (s.upper_bound != tree_step::open) lower_bound = s.upper_bound + 1;
  }
  return steps.empty() ? n : joined(n.by, std::move(steps));
}

tree_node joined(quantity by, std::vector<tree_step> steps) {
  std::vector<tree_step> flat;
  for (tree_step& s : steps) {
    if (s.then.is_leaf() || s.then.by != by) {
      flat.push_back(std::move(s));
      continue;
    }
    for (tree_step& inner : s.then.steps) {
      inner.upper_bound = std::min(inner.upper_bound, s.upper_bound);
      flat.push_back(std::move(inner));
    }
    flat.back().upper_bound = s.upper_bound;
  }
  tree_node made;
  made.by = by;
  for (tree_step& s : flat) {
    if (!made.steps.empty() && same(made.steps.back().then, s.then))
      made.steps.back().upper_bound = s.upper_bound;
    else
      made.steps.push_back(std::move(s));
  }
  if (made.steps.size() == 1) return tree_node(made.steps[0].then);
  if (!made.steps.empty()) made.steps.back().upper_bound = tree_step::open;
  return made;
}

void add_demands(const tree_node& n, literals& all) {
  if (n.is_leaf()) {
    const literals one = demands_of(n.use).conditions;
    all.mask |= one.mask;
    all.values |= one.values;
    return;
  }
  for (const tree_step& s : n.steps) add_demands(s.then, all);
}

}  // namespace tutti::tuning
