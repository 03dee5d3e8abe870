// SPDX-License-Identifier: Apache-2.0
#include "tuning/contenders.hpp"

#include <algorithm>
#include <utility>

namespace tutti::tuning {
namespace {

constexpr std::size_t max_measurements = 31;  // more show little more

// A few measurements may all have been disturbed, also if they agree.
bool may_be_disturbed(const timing& t, const timing& best) {
  const double factor = t.measurements == 1                                     ? 3
                        : t.measurements < repeated_times::enough_for_quartiles ? 2
                                                                                : 0;
  return t.us < factor * best.us;
}

}  // namespace

std::vector<timing> timings_of(const std::vector<contender>& all) {
  std::vector<timing> found;
  for (const contender& c : all)
    if (c.times.good()) found.push_back(c.times.of(c.what.use));
  std::sort(found.begin(), found.end(),
            [](const timing& a, const timing& b) { return precedes(a.use, b.use); });
  return found;
}

const timing& fastest(const std::vector<timing>& all) {
  return *std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.us < b.us; });
}

std::vector<timing> compared_times(const std::vector<contender>& group, double first_us) {
  std::vector<timing> found;
  for (const contender& c : group)
    if (c.times.good() && group[0].times.good())
      found.push_back(c.times.relative_to(group[0].times, first_us, c.what.use));
  return found;
}

bool is_clear(const std::vector<timing>& all, const rules& r) {
  return std::none_of(all.begin(), all.end(), [&](const timing& t) {
    const timing& best = fastest(all);
    return may_beat(t, all[0], r) || (best.us * (1 + r.floor) < t.us && is_unclear(t, best, r));
  });
}

std::vector<contender*> unclear_of(std::vector<contender>& all, const rules& r) {
  std::vector<std::pair<contender*, timing>> good;
  for (contender& c : all)
    if (c.times.good()) good.emplace_back(&c, c.times.of(c.what.use));
  const auto best = std::min_element(good.begin(), good.end(),
                                     [](const auto& a, const auto& b) { return a.second.us < b.second.us; });
  std::vector<contender*> found;
  for (const auto& [c, t] : good)
    if (c != best->first && (is_unclear(t, best->second, r) || may_be_disturbed(t, best->second)))
      found.push_back(c);
  if (!found.empty()) found.insert(found.begin(), best->first);
  std::erase_if(found, [](const contender* c) { return c->times.count() >= max_measurements; });
  return found;
}

}  // namespace tutti::tuning
