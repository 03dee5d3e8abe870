// SPDX-License-Identifier: Apache-2.0
//
// Random splits, the same on all ranks, with their expected members.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

namespace tests {

using ints = std::vector<int>;

/// The color and key of each rank; a color below 0 means no part.
struct split_case {
  ints colors, keys;
  /// Returns the members of a rank's part, in order.
  ints part_of(int r) const {
    ints all;
    const int p = static_cast<int>(colors.size());
    for (int q = 0; q < p; ++q)
      if (at(colors, q) == at(colors, r)) all.push_back(q);
    std::stable_sort(all.begin(), all.end(), [&](int a, int b) { return at(keys, a) < at(keys, b); });
    return all;
  }
  static int at(const ints& v, int i) { return v[static_cast<std::size_t>(i)]; }
};

/// Returns the usual splits, and some random ones.
inline std::vector<split_case> split_cases(int p, unsigned seed) {
  std::vector<split_case> all;
  const auto add = [&](auto&& color, auto&& key) {
    split_case c;
    for (int r = 0; r < p; ++r) c.colors.push_back(color(r)), c.keys.push_back(key(r));
    all.push_back(std::move(c));
  };
  const auto none = [](int) { return 0; };
  add(none, none);
  add(none, [](int r) { return -r; });  // reversed
  add([](int r) { return r; }, none);  // each rank alone
  add([](int r) { return r % 2; }, none);
  add([](int r) { return r / 4; }, [](int r) { return r % 4 == 0 ? 7 : 3; });
  add([](int r) { return r % 3 == 0 ? -1 : r % 2; }, [](int r) { return r % 5; });
  add([](int) { return -5; }, none);  // no rank in any part
  add([&](int r) { return r == p - 1 ? 0x7fffffff : -1; }, none);  // one rank
  std::mt19937 random(seed);
  for (int i = 0; i < 4; ++i) {
    const int colors = 1 + static_cast<int>(random() % static_cast<unsigned>(p));
    const int keys = 1 + static_cast<int>(random() % static_cast<unsigned>(p));
    add([&](int) { return static_cast<int>(random() % static_cast<unsigned>(colors + 1)) - 1; },
        [&](int) { return static_cast<int>(random() % static_cast<unsigned>(keys)) - keys / 2; });
  }
  return all;
}

}  // namespace tests
