// SPDX-License-Identifier: Apache-2.0
#include "selection/tree_difference.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "selection/truth_set.hpp"

namespace tutti {
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
    if (!a.use.chooses_as(b.use)) found.push_back({within, &a.use, &b.use});
    return;
  }
  const tree_node& split = a.is_leaf() ? b : a;
  std::uint64_t least = 0;
  for (const tree_step& step : split.steps) {
    value_ranges inner = within;
    value_range& r = inner[at(split.by)];
    r.least = std::max(r.least, least);
    r.most = std::min(r.most, step.upper_bound);
    if (!r.empty()) walk(a.is_leaf() ? a : step.then, a.is_leaf() ? step.then : b, inner, found);
    if (step.upper_bound != tree_step::open) least = step.upper_bound + 1;
  }
}

// Merges b into a if they differ in one quantity only and are adjacent there.
bool join(box& a, const box& b) {
  if (!a.first->chooses_as(*b.first) || !a.second->chooses_as(*b.second)) return false;
  std::size_t unlike = quantity_count;
  for (std::size_t q = 0; q < quantity_count; ++q) {
    if (a.within[q] == b.within[q]) continue;
    if (unlike != quantity_count) return false;
    unlike = q;
  }
  if (unlike == quantity_count) return true;
  value_range &mine = a.within[unlike], other = b.within[unlike];
  if (mine.most != tree_step::open && mine.most + 1 == other.least) {
    mine.most = other.most;
  } else if (other.most != tree_step::open && other.most + 1 == mine.least) {
    mine.least = other.least;
  } else {
    return false;
  }
  return true;
}
void join_all(std::vector<box>& boxes) {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (std::size_t k = i + 1; k < boxes.size();) {
        if (join(boxes[i], boxes[k])) {
          boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(k));
          again = true;
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
      if (!set.meets(other) && all.meets(other)) common.demand(c, value);
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

// Adds the regions that precede a region and overlap with the remaining calls.
void exceptions(const regions& list, std::size_t before, const truth_set& hull, const literals& common,
                std::vector<literals>& except) {
  for (std::size_t i = 0; i < before; ++i) {
    if (!hull.meets(list[i].when)) continue;
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
  if (std::popcount(mentioned) > truth_set::most)
    throw std::length_error("the trees test too many conditions to be compared");
  const truth_set all(mentioned, what);
  truth_set left = all;
  for (std::size_t i = 0; i < a.size(); ++i) {
    truth_set of_a = left;
    of_a.keep(a[i].when);
    left.take(a[i].when);
    for (std::size_t k = 0; k < b.size() && !of_a.empty(); ++k) {
      truth_set both = of_a;
      both.keep(b[k].when);
      of_a.take(b[k].when);
      if (both.empty()) continue;
      std::vector<box> boxes;
      walk(a[i].then, b[k].then, all_values(what), boxes);
      if (boxes.empty()) continue;
      const literals common = common_part(both, mentioned, all);
      std::erase_if(boxes, [&](const box& one) { return !possible(what, common, one.within); });
      join_all(boxes);
      truth_set hull = all;
      hull.keep(common);
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

}  // namespace tutti
