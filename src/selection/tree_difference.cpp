// SPDX-License-Identifier: Apache-2.0
#include "selection/tree_difference.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "selection/truth_set.hpp"

namespace tutti::detail {
namespace {

using regions = std::vector<tree_region>;

constexpr std::size_t at(quantity q) noexcept { return static_cast<std::size_t>(q); }

struct box {
  value_ranges within;
  const leaf *first, *second;
};

// Walks two nodes in parallel and collects the boxes in which their leaves differ.
void walk(const tree_node& a, const tree_node& b, const value_ranges& within, std::vector<box>& found) {
  if (a.is_leaf() && b.is_leaf()) {
    if (!a.use.same_choice(b.use)) found.push_back({within, &a.use, &b.use});
    return;
  }
  const tree_node& split = a.is_leaf() ? b : a;
  std::uint64_t lower_bound = 0;
  for (const tree_step& step : split.steps) {
    value_ranges inner = within;
    value_range& r = inner[at(split.by)];
    r.min = std::max(r.min, lower_bound);
    r.max = std::min(r.max, step.upper_bound);
    if (!r.empty()) walk(a.is_leaf() ? a : step.then, a.is_leaf() ? step.then : b, inner, found);
    if (step.upper_bound != tree_step::open) lower_bound = step.upper_bound + 1;
  }
}

// Merges b into a if they differ in one quantity only and are adjacent there.
bool merge(box& a, const box& b) {
  if (!a.first->same_choice(*b.first) || !a.second->same_choice(*b.second)) return false;
  std::size_t differing = quantity_count;
  for (std::size_t q = 0; q < quantity_count; ++q) {
    if (a.within[q] == b.within[q]) continue;
    if (differing != quantity_count) return false;
    differing = q;
  }
  if (differing == quantity_count) return true;
  value_range &range = a.within[differing], other = b.within[differing];
  if (range.max != tree_step::open && range.max + 1 == other.min) {
    range.max = other.max;
  } else if (other.max != tree_step::open && other.max + 1 == range.min) {
    range.min = other.min;
  } else {
    return false;
  }
  return true;
}
void merge_all(std::vector<box>& boxes) {
  for (bool merged = true; merged;) {
    merged = false;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (std::size_t k = i + 1; k < boxes.size();) {
        if (merge(boxes[i], boxes[k])) {
          boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(k));
          merged = true;
        } else {
          ++k;
        }
      }
  }
}

// The literals that all calls of a set have in common, except those that are true for every call of
// the collective.
literals common_part(const truth_set& set, condition_bits mentioned, const truth_set& all) {
  literals common;
  for_each_condition(mentioned, [&](condition c) {
    for (const bool value : {false, true}) {
      literals other;
      other.demand(c, !value);
      if (!set.intersects(other) && all.intersects(other)) common.demand(c, value);
    }
  });
  // Omits literals that follow from others.
  for (const consequence& c : consequences())
    if ((common.mask & bit(c.first)) && ((common.values & bit(c.first)) != 0) == c.first_value) {
      common.mask &= ~bit(c.second);
      common.values &= ~bit(c.second);
    }
  return common;
}

// Adds the regions that precede a region and overlap with the rest of its calls.
void exceptions(const regions& list, std::size_t before, const truth_set& hull, const literals& common,
                std::vector<literals>& except) {
  for (std::size_t i = 0; i < before; ++i) {
    if (!hull.intersects(list[i].when)) continue;
    literals rest = list[i].when;
    rest.mask &= ~common.mask;
    rest.values &= rest.mask;
    if (std::find(except.begin(), except.end(), rest) == except.end()) except.push_back(rest);
  }
}

void compare_regions(const regions& a, const regions& b, tree_half half, collective what,
                     std::vector<difference>& found) {
  condition_bits mentioned = 0;
  for (const regions* list : {&a, &b})
    for (const tree_region& r : *list) mentioned |= r.when.mask;
  if (std::popcount(mentioned) > truth_set::max_conditions)
    throw std::length_error("the trees test too many conditions to be compared");
  const truth_set all(mentioned, what);
  truth_set remaining = all;
  for (std::size_t i = 0; i < a.size(); ++i) {
    truth_set calls_of_a = remaining;
    calls_of_a.intersect(a[i].when);
    remaining.subtract(a[i].when);
    for (std::size_t k = 0; k < b.size() && !calls_of_a.empty(); ++k) {
      truth_set both = calls_of_a;
      both.intersect(b[k].when);
      calls_of_a.subtract(b[k].when);
      if (both.empty()) continue;
      std::vector<box> boxes;
      walk(a[i].then, b[k].then, all_values(what), boxes);
      if (boxes.empty()) continue;
      const literals common = common_part(both, mentioned, all);
      std::erase_if(boxes, [&](const box& one) { return !possible(what, common, one.within); });
      merge_all(boxes);
      truth_set hull = all;
      hull.intersect(common);
      std::vector<literals> except;
      exceptions(a, i, hull, common, except);
      exceptions(b, k, hull, common, except);
      for (const box& one : boxes)
        found.push_back({half, what, common, except, one.within, *one.first, *one.second});
    }
  }
}

// The regions of a half; a composition tree without regions chooses no composition.
const regions& regions_of(const document& d, tree_half half, std::size_t c) {
  static const regions none = [] {
    regions one(1);
    one[0].then.use.what = leaf::kind::pure;
    return one;
  }();
  const regions& list = d.of(half)[c];
  return half == tree_half::composition && list.empty() ? none : list;
}

}  // namespace

comparison compare(const document& first, const document& second) {
  document b = second;
  declare(b, first.conditions);
  comparison made{b.conditions, {}};
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (std::size_t c = 0; c < collective_names.size(); ++c)
      compare_regions(regions_of(first, half, c), regions_of(b, half, c), half, static_cast<collective>(c),
                      made.differences);
  return made;
}

}  // namespace tutti::detail
