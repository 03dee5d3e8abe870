// SPDX-License-Identifier: Apache-2.0
//
// Numbers by their digits: which of 0 .. p-1 have a given digit at a given place. They lie in runs, as long
// as the place's weight and a digit's whole period apart; the last run may be cut off by p.
#pragma once

namespace tutti::patterns {

/// The weight of the next place; nothing below p has a digit there when it is p or more.
constexpr int next_weight(int weight, int radix, int p) { return weight > p / radix ? p : weight * radix; }

struct digit_runs {
  int first;     // the first such number
  int length;    // of a run: the weight
  int distance;  // from run to run
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

  /// Calls body(run, runs, from, to): offsets [from, to) of `runs` runs, together all offsets from `skip` on,
  /// such that none holds both `edge` and the number after it.
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

/// How many of 0 .. p-1 have another last digit than 0; no place has more.
constexpr int max_with_a_digit(int p, int radix) { return p - (p - 1) / radix - 1; }

}  // namespace tutti::patterns
