// SPDX-License-Identifier: Apache-2.0
#include "tuning/promising_candidates.hpp"

#include <algorithm>
#include <string_view>

#include "tuning/contenders.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

constexpr double slow_with_fewer = 2;

bool is_promising(const leaf& use, const std::vector<timing>& with_fewer,
                  const std::vector<candidate>& candidates) {
  const double best_us = fastest(with_fewer).us;
  const auto was_fast = [&](const timing& t) { return t.us <= slow_with_fewer * best_us; };
  if (std::any_of(candidates.begin(), candidates.end(), [&](const candidate& c) { return same(c.use, use); }))
    return std::any_of(with_fewer.begin(), with_fewer.end(),
                       [&](const timing& t) { return same(t.use, use) && was_fast(t); });
  return std::any_of(with_fewer.begin(), with_fewer.end(), [&](const timing& t) {
    return t.use.what == use.what && t.use.named() == use.named() && was_fast(t);
  });
}

}  // namespace

speed speed_of(const simulation::network& links) {
  simulation::route r;
  links.find(0, links.ranks() - 1, r);
  double rate = r.max_rate;
  for (std::uint32_t i = 0; i < r.hops; ++i) rate = std::min(rate, links.bandwidths()[r.links[i]]);
  speed v;
  v.alpha = (r.latency + r.with->send_overhead + r.with->receive_overhead) * 1e6;
  v.beta = 1e6 / rate;
  return v;
}

bool has_defaults(const choice& c) { return c.parameter_values == c.pure->default_values(); }

void put_promising_first(std::vector<candidate>& all, const leaf& current) {
  const auto group = [&](const candidate& a) {
    return same(a.use, current) ? 2 : has_defaults(a.use.chosen) ? 0 : 1;
  };
  std::stable_sort(all.begin(), all.end(), [&](const candidate& a, const candidate& b) {
    const int x = group(a), y = group(b);
    return x != y ? x < y : a.predicted < b.predicted;
  });
}

void keep_promising(std::vector<candidate>& all, const leaf& current,
                    const std::vector<call_with_fewer_ranks>& fewer) {
  const auto is_known = [](const call_with_fewer_ranks& one) { return !one.times.empty(); };
  if (std::none_of(fewer.begin(), fewer.end(), is_known)) return;
  std::erase_if(all, [&](const candidate& a) {
    return !same(a.use, current) &&
           std::none_of(fewer.begin(), fewer.end(), [&](const call_with_fewer_ranks& one) {
             return is_known(one) && is_promising(a.use, one.times, one.candidates);
           });
  });
}

bool only_repeats_the_call(const composed_algorithm& c, const selection_context& s) {
  const std::string_view name = c.name.substr(c.name.find('/') + 1);
  if (name == "blocking_by_nonblocking" || name == "staged_buffer") return true;
  // Those that divide a call by nodes, except scans, which are made of exscans.
  return s.ranks_per_node == 1 && c.what != collective::scan && c.what != collective::exscan &&
         (name.starts_with("node_") || name.starts_with("multi_"));
}

}  // namespace tutti::tuning
