// SPDX-License-Identifier: Apache-2.0
//
// Measures the time of an operation of several ranks, for `tutti tune` and the benchmarks. Short
// operations run in a loop; otherwise the clock and the skew of the barrier would dominate. Long
// operations run one at a time after a barrier. The time is that of the slowest rank. The result is
// the smallest median of several groups of samples. bench/protocol.hpp gives the reasons.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace tutti::tuning {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

template <class World>
concept world = requires(World& w, double value) {
  { w.rank() } -> std::convertible_to<int>;
  { w.size() } -> std::convertible_to<int>;
  w.barrier();
  { w.max(value) } -> std::convertible_to<double>;
};

template <class Hooks>
concept hooks = requires(Hooks& h, std::size_t round) {
  h.touch();       // changes the sent data, one word in every cache line
  h.read();        // reads the received data, one word in every cache line
  h.touch(round);  // changes one word, a different one in each round
  h.read(round);
};

// Makes the compiler assume that the value is used.
template <class Value>
inline void do_not_optimize(const Value& value) {
  asm volatile("" : : "g"(value) : "memory");
}

// --- statistics

inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), middle, values.end());
  if (below + 1 == values.size()) return *middle;
  const double above = *std::min_element(middle + 1, values.end());
  return *middle + (above - *middle) * (at - static_cast<double>(below));
}

inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

struct measurement {
  double us = 0;            // of one operation, on the slowest rank
  double noise = 0;         // interquartile range of all samples, relative to their median
  std::size_t samples = 0;  // timed intervals
  std::size_t loop = 1;     // operations in each
};

// --- the measurement

enum class mode { loop, single };

// Takes samples within the budget and evaluates them. `cost` is the time of one sample. `together`
// converts the result of `sample` into the time of one operation on the slowest rank.
template <class Sample, class Together>
measurement take_samples(double budget, double cost, Sample&& sample, Together&& together) {
  constexpr std::size_t groups_wanted = 3;
  const auto affordable = static_cast<std::size_t>(std::min(1e6, budget / std::max(cost, 1e-9)));
  const std::size_t groups = affordable >= 3 * groups_wanted ? groups_wanted : 1;
  // A median needs a few samples even if they exceed the budget, unless each takes many times as
  // long.
  const std::size_t min_samples = cost > 10 * budget ? 1 : cost > 3 * budget ? 3 : 5;
  const std::size_t each = std::clamp<std::size_t>(affordable / groups, min_samples, 333);

  std::vector<double> all;
  all.reserve(groups * each);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<decltype(sample())> mine(each);
    for (auto& one : mine) one = sample();
    std::vector<double> samples;
    // after all samples: communication would disturb them
    for (const auto& one : mine) samples.push_back(together(one));
    best = std::min(best, median(samples));
    all.insert(all.end(), samples.begin(), samples.end());
  }
  measurement result;
  result.samples = all.size();
  result.us = best * 1e6;
  const double middle = median(all);
  result.noise = middle > 0 ? (quantile(all, 0.75) - quantile(all, 0.25)) / middle : 0;
  return result;
}

// Every decision here follows from a maximum over the ranks, so that all ranks make the same one.
template <world World, class Operation, hooks Hooks>
measurement measure(World& w, mode how, double budget_ms, Operation&& operation, Hooks& hook) {
  std::size_t loop = 1;
  const double budget = budget_ms * 1e-3;
  struct interval {
    double start = 0, end = 0;
  };
  const auto sample = [&] {
    if (how == mode::single) hook.touch();
    w.barrier();
    const auto start = clock::now();
    if (how == mode::single) {
      operation();
    } else {
      for (std::size_t round = 0; round < loop; ++round) {
        hook.touch(round);
        operation();
        hook.read(round);
      }
    }
    const auto end = clock::now();
    if (how == mode::single) hook.read();
    return interval{seconds(start.time_since_epoch()).count(), seconds(end.time_since_epoch()).count()};
  };
  // The time of one operation on the slowest rank. If the world has span(), it is measured by the
  // clock that all ranks share.
  const auto together = [&](const interval& mine) {
    double all = 0;
    if constexpr (requires { all = w.span(mine.start, mine.end); }) {
      all = w.span(mine.start, mine.end);
    } else {
      all = w.max(mine.end - mine.start);
    }
    return all / static_cast<double>(loop);
  };
  const auto timed = [&] {  // a complete sample, on the slowest rank
    const auto start = clock::now();
    do_not_optimize(together(sample()));
    return w.max(seconds(clock::now() - start).count());
  };

  sample();  // warm-up: connections, schedules and page tables are built in the first call
  double cost = timed();
  if (how == mode::loop) {
    // Forty loops for a budget: short enough that most are not interrupted, long enough for the
    // clock and the barrier.
    while (loop < (std::size_t{1} << 20)) {
      // repeats in case something disturbed the sample
      if (cost >= budget / 40) cost = std::min(cost, timed());
      if (cost >= budget / 40) break;
      loop *= 2;
      cost = timed();
    }
  }

  measurement result = take_samples(budget, cost, sample, together);
  result.loop = loop;
  return result;
}

}  // namespace tutti::tuning
