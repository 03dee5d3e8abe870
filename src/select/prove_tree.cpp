// SPDX-License-Identifier: Apache-2.0
#include "select/prove_tree.hpp"

#include <algorithm>
#include <string_view>

#include "select/nearest.hpp"
#include "select/truth_set.hpp"

namespace tutti {

demand demands_of(const leaf& l) {
  demand d;
  if (l.what == leaf::kind::native) d.conditions.demand(condition::native, true);
  if (l.what != leaf::kind::algorithm || l.chosen.pure == nullptr) return d;
  const restriction needs = l.chosen.pure->needs;
  static constexpr struct {
    restriction which;
    condition what;
    bool value;
  } meanings[] = {{restriction::power_of_two, condition::power_of_two, true},
                  {restriction::commutative, condition::commutative, true},
                  {restriction::builtin_op, condition::builtin_op, true},
                  {restriction::not_in_place, condition::in_place, false},
                  {restriction::even_ranks, condition::even_ranks, true},
                  {restriction::count_ge_ranks, condition::count_ge_ranks, true},
                  {restriction::in_place, condition::in_place, true}};
  d.conditions.demand(condition::inter, demands(needs, restriction::inter));
  for (const auto& m : meanings)
    if (demands(needs, m.which)) d.conditions.demand(m.what, m.value);
  if (demands(needs, restriction::equal_regions)) {
    const std::uint32_t region = l.chosen.knobs[static_cast<std::size_t>(knob::region)];
    if (region == 2) {
      d.conditions.demand(condition::even_ranks, true);
    } else if (region != 1) {
      d.beyond = "region = " + std::to_string(region) + " divides the ranks, which no condition says";
    }
  }
  return d;
}

namespace {

void check_leaves(const region_place& r, const truth_set& left, std::vector<found_fault>& found) {
  std::vector<literals> proved;
  for (const leaf_place& l : r.leaves) {
    const demand d = demands_of(l.use);
    const std::string name =
        l.use.what == leaf::kind::algorithm ? std::string(l.use.chosen.pure->name) : "native";
    if (!d.beyond.empty())
      found.push_back({l.pointer, l.line, quoted(name) + " demands that " + d.beyond, ""});
    if (std::find(proved.begin(), proved.end(), d.conditions) != proved.end()) continue;
    const auto breaker = left.any_without(r.when, d.conditions);
    if (!breaker) {
      proved.push_back(d.conditions);
      continue;
    }
    literals missing;
    std::string remedy;
    for (const condition_entry& e : conditions()) {
      literals one;
      one.demand(e.which, (d.conditions.values & bit(e.which)) != 0);
      if (!(d.conditions.mask & bit(e.which)) || !left.any_without(r.when, one)) continue;
      missing.demand(e.which, (one.values & bit(e.which)) != 0);
      remedy += (remedy.empty() ? "" : ", ") + quoted(e.name) + (one.values != 0 ? ": true" : ": false");
    }
    found.push_back({l.pointer, l.line,
                     quoted(name) + " demands " + to_string(missing) + ", but a call with " +
                         to_string(*breaker) + " comes here",
                     "add " + remedy + " to the \"when\" of the region"});
  }
}

}  // namespace

std::vector<found_fault> prove_legal(const std::vector<region_place>& regions, collective what, bool whole) {
  std::vector<found_fault> found;
  condition_bits mentioned = 0;
  for (const region_place& r : regions) {
    mentioned |= r.when.mask;
    for (const leaf_place& l : r.leaves) mentioned |= demands_of(l.use).conditions.mask;
  }
  const truth_set all(mentioned, what);
  truth_set left = all;
  for (const region_place& r : regions) {
    if (!left.meets(r.when)) {
      if (all.meets(r.when))
        found.push_back({r.pointer, r.line,
                         "this region can never be reached: those before it take every call that fits",
                         "take it out, or put it before them"});
      else
        found.push_back({r.pointer, r.line,
                         "this region can never be reached: no call of " + std::string(name_of(what)) +
                             " has " + to_string(r.when),
                         ""});
    } else {
      check_leaves(r, left, found);
    }
    left.take(r.when);
  }
  if (whole)
    if (const auto missed = left.any())
      found.push_back(
          {"", 0, "no region serves a call with " + to_string(*missed), "the last region has no \"when\""});
  return found;
}

}  // namespace tutti
