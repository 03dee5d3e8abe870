// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on digits: which of the numbers 0 .. p-1 have a given digit at a given position. They
// form runs whose length is the weight of the position. The distance between runs is the weight of
// the next position. p may cut off the last run.
#pragma once

namespace tutti::patterns {

/// The weight of the next position, at most p. If it is p, no number below p has a digit other than
/// 0 there.
constexpr int next_weight(int weight, int radix, int p) { return weight > p / radix ? p : weight * radix; }

struct digit_runs {
  int first;     // the first such number
  int length;    // of a run: the weight of the position
  int distance;  // between the beginnings of two runs
  int full;      // runs of that length
  int rest;      // length of the run after these, 0 if there is none

  constexpr digit_runs(int p, int radix, int weight, int digit)
      : first(digit * weight),
        length(weight),
        distance(next_weight(weight, radix, p)),
        full(first + length > p ? 0 : (p - first - length) / distance + 1),
        rest(first + full * distance < p ? p - first - full * distance : 0) {}

  constexpr int count() const { return full * length + rest; }
  constexpr int length_of(int run) const { return run < full ? length : rest; }

  /// Calls body(run, runs, from, to) with offsets [from, to) of `runs` runs. Together the calls
  /// cover all offsets from `skip` on. No call contains both the number `edge` and the number after
  /// it in one run.
  template <class Body>
  void for_each_stretch(int skip, int edge, Body&& body) const {
    const int at = edge / distance, offset = edge % distance - first;
    const auto stretch = [&](int run, int runs, int from, int to) {
      if (runs > 0 && from < to) body(run, runs, from, to);
    };
    const auto cut = [&](int run, int to) {
      stretch(run, 1, skip, offset + 1);
      stretch(run, 1, offset + 1, to);
    };
    const bool within = offset >= skip && offset + 1 < length_of(at);
    if (within && at < full) {
      stretch(0, at, skip, length);
      cut(at, length);
      stretch(at + 1, full - at - 1, skip, length);
    } else {
      stretch(0, full, skip, length);
    }
    if (within && at == full)
      cut(at, rest);
    else
      stretch(full, 1, skip, rest);
  }
};

/// The number of values in 0 .. p-1 whose last digit is not 0. No other position has more.
constexpr int max_with_a_digit(int p, int radix) { return p - (p - 1) / radix - 1; }

}  // namespace tutti::patterns
