// SPDX-License-Identifier: Apache-2.0
//
// Tests the sharing of links. Figures of small cases are computed by hand. Random cases are
// compared with a plain computation, which raises the rates of all messages together.
#include "simulation/flows.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/seed.hpp"

namespace tutti::simulation {
namespace {

struct sent {
  std::vector<std::uint32_t> links;
  double bytes = 0, begin = 0, max_rate = unlimited;
};

route route_over(const sent& s) {
  route r;
  r.max_rate = s.max_rate;
  for (const std::uint32_t l : s.links) r.links[r.hops++] = l;
  return r;
}

// The time at which each message ends.
std::vector<double> ends_of(const std::vector<double>& bandwidths, const std::vector<sent>& all) {
  flow_set flows;
  flows.reset(bandwidths);
  std::vector<double> ends(all.size(), -1);
  std::vector<std::uint32_t> ended;
  std::size_t open = all.size();
  std::vector<bool> begun(all.size(), false);
  while (open > 0) {
    double now = flows.next_end();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!begun[i]) now = std::min(now, all[i].begin);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!begun[i] && all[i].begin <= now) {
        begun[i] = true;
        flows.begin(route_over(all[i]), all[i].bytes, static_cast<std::uint32_t>(i), now);
      }
    ended.clear();
    flows.end(now, 1e-12 * now, ended);
    for (const std::uint32_t i : ended) {
      ends[i] = now;
      --open;
    }
    flows.share(now);
  }
  return ends;
}

// The rates by definition: all rates grow alike until a link is full or a message has its maximum.
std::vector<double> fair_rates(const std::vector<double>& bandwidths, const std::vector<sent>& all,
                               const std::vector<bool>& active) {
  std::vector<double> rates(all.size(), 0), left = bandwidths;
  std::vector<bool> growing = active;
  for (;;) {
    std::vector<int> users(bandwidths.size(), 0);
    double step = unlimited;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!growing[i]) continue;
      step = std::min(step, all[i].max_rate - rates[i]);
      for (const std::uint32_t l : all[i].links) ++users[l];
    }
    for (std::size_t l = 0; l < left.size(); ++l)
      if (users[l] > 0) step = std::min(step, left[l] / users[l]);
    if (std::isinf(step)) return rates;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!growing[i]) continue;
      rates[i] += step;
      for (const std::uint32_t l : all[i].links) left[l] -= step;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool full = rates[i] >= all[i].max_rate * (1 - 1e-9);
      for (const std::uint32_t l : all[i].links) full = full || left[l] <= bandwidths[l] * 1e-9;
      if (full) growing[i] = false;
    }
  }
}

std::vector<double> expected_ends(const std::vector<double>& bandwidths, const std::vector<sent>& all) {
  std::vector<double> ends(all.size(), -1), left;
  for (const sent& s : all) left.push_back(s.bytes);
  std::vector<bool> active(all.size(), false);
  double now = 0;
  for (;;) {
    const std::vector<double> rates = fair_rates(bandwidths, all, active);
    double next = unlimited;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (active[i]) next = std::min(next, now + left[i] / rates[i]);
      if (!active[i] && ends[i] < 0 && all[i].begin >= now) next = std::min(next, all[i].begin);
    }
    if (std::isinf(next)) return ends;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (active[i]) {
        left[i] -= rates[i] * (next - now);
        if (left[i] <= all[i].bytes * 1e-9) {
          active[i] = false;
          ends[i] = next;
        }
      } else if (ends[i] < 0 && all[i].begin <= next) {
        active[i] = true;
      }
    }
    now = next;
  }
}

TEST(flows, one_message_has_the_bandwidth_of_its_slowest_link) {
  EXPECT_DOUBLE_EQ(ends_of({10, 4}, {{{0, 1}, 8}})[0], 2);
  EXPECT_DOUBLE_EQ(ends_of({10, 4}, {{{0, 1}, 8, 0, 2}})[0], 4);
  EXPECT_DOUBLE_EQ(ends_of({10, 4}, {{{}, 8, 0, 2}})[0], 4);
}

TEST(flows, two_messages_share_a_link) {
  // Each has half. When the short one has ended, the other one has all.
  const auto ends = ends_of({10}, {{{0}, 20}, {{0}, 40}});
  EXPECT_DOUBLE_EQ(ends[0], 4);
  EXPECT_DOUBLE_EQ(ends[1], 6);
  // The second one begins later.
  const auto later = ends_of({10}, {{{0}, 40}, {{0}, 10, 2}});
  EXPECT_DOUBLE_EQ(later[1], 4);
  EXPECT_DOUBLE_EQ(later[0], 5);
}

TEST(flows, what_one_cannot_use_the_others_get) {
  // On link 0 the first two have half of 10 each, so the third has 15 of the 20 of link 1.
  const auto ends = ends_of({10, 20}, {{{0}, 50}, {{0, 1}, 50}, {{1}, 150}});
  for (const double end : ends) EXPECT_DOUBLE_EQ(end, 10);
  // A message with a maximum leaves the rest to the others.
  const auto limited = ends_of({10}, {{{0}, 20, 0, 2}, {{0}, 40}, {{0}, 40}});
  for (const double end : limited) EXPECT_DOUBLE_EQ(end, 10);
}

TEST(flows, random_messages_share_as_the_definition_says) {
  tests::for_each_seed(1, 60, [](std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto below = [&](unsigned n) { return random() % n; };
    std::vector<double> bandwidths(1 + below(8));
    for (double& b : bandwidths) b = 1 + below(10);
    std::vector<sent> all(1 + below(20));
    for (sent& s : all) {
      for (std::uint32_t l = 0; l < bandwidths.size(); ++l)
        if (below(3) == 0) s.links.push_back(l);
      s.bytes = 1 + below(100);
      s.begin = below(20);
      if (s.links.empty() || below(4) == 0) s.max_rate = 1 + below(5);
    }
    const auto ends = ends_of(bandwidths, all), expected = expected_ends(bandwidths, all);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(ends[i], expected[i], 1e-6 * expected[i]) << i;
  });
}

}  // namespace
}  // namespace tutti::simulation
