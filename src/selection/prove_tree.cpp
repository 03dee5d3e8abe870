// SPDX-License-Identifier: Apache-2.0
#include "selection/prove_tree.hpp"

#include <algorithm>
#include <bit>

#include "selection/suggestion.hpp"
#include "selection/truth_set.hpp"

namespace tutti::detail {

namespace {

bool tests_reach(const region_place& r) noexcept { return (r.when.mask & reach_conditions) != 0; }

void prove_leaves(const region_place& r, const truth_set& remaining,
                  std::span<const declared_condition> declared, std::vector<found_fault>& found) {
  std::vector<literals> proved;
  for (const leaf_place& l : r.leaves) {
    const demand d = demands_of(l.use, tests_reach(r));
    const catalogue_entry* const named = l.use.named();
    const std::string name = named != nullptr ? std::string(named->name) : "native";
    if (!d.beyond.empty())
      found.push_back({l.pointer, l.line, quoted(name) + " requires that " + d.beyond, ""});
    if (std::find(proved.begin(), proved.end(), d.conditions) != proved.end()) continue;
    const auto breaker = remaining.any_without(r.when, d.conditions);
    if (!breaker) {
      proved.push_back(d.conditions);
      continue;
    }
    literals missing;
    std::string remedy;
    bool contradicts = false;  // the "when" of the region has the opposite literal
    for_each_condition(d.conditions.mask, [&](condition c) {
      literals one;
      one.demand(c, (d.conditions.values & bit(c)) != 0);
      if (!remaining.any_without(r.when, one)) return;
      missing.demand(c, one.values != 0);
      contradicts =
          contradicts || ((r.when.mask & bit(c)) != 0 && ((r.when.values ^ one.values) & bit(c)) != 0);
      remedy += (remedy.empty() ? "" : ", ") + quoted(name_of(c)) + (one.values != 0 ? ": true" : ": false");
    });
    found.push_back({l.pointer, l.line,
                     quoted(name) + " requires " + to_string(missing) + ", but calls with " +
                         to_string(*breaker, declared) + " reach this region",
                     contradicts ? "name another: the \"when\" of the region excludes it"
                                 : "add " + remedy + " to the \"when\" of the region"});
  }
}

}  // namespace

std::vector<found_fault> prove_legal(const std::vector<region_place>& regions, collective what, bool total,
                                     std::span<const declared_condition> declared) {
  std::vector<found_fault> found;
  condition_bits mentioned = 0;
  for (const region_place& r : regions) {
    mentioned |= r.when.mask;
    for (const leaf_place& l : r.leaves) mentioned |= demands_of(l.use, tests_reach(r)).conditions.mask;
  }
  if (std::popcount(mentioned) > truth_set::max_conditions) {
    const std::string limit = std::to_string(truth_set::max_conditions);
    found.push_back({"", 0, "the regions test more than " + limit + " conditions", ""});
    return found;
  }
  const truth_set all(mentioned, what);
  truth_set remaining = all;
  for (const region_place& r : regions) {
    if (!remaining.intersects(r.when)) {
      if (all.intersects(r.when))
        found.push_back(
            {r.pointer, r.line,
             "this region can never be reached: the regions before it match every call that it matches",
             "remove it, or move it before them"});
      else
        found.push_back({r.pointer, r.line,
                         "this region can never be reached: no call of " + std::string(name_of(what)) +
                             " has " + to_string(r.when, declared),
                         ""});
    } else {
      prove_leaves(r, remaining, declared, found);
    }
    remaining.subtract(r.when);
  }
  if (total)
    if (const auto missed = remaining.any())
      found.push_back({"", 0, "no region serves a call with " + to_string(*missed, declared),
                       "write a last region without \"when\""});
  return found;
}

}  // namespace tutti::detail
