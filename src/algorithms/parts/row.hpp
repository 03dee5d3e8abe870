// SPDX-License-Identifier: Apache-2.0
//
// Ranks in a row, each of which talks to the two beside it only. Around a root there are two rows, one on
// each side. What goes on for different numbers of steps is written stage by stage: a stage is the steps in
// which the same transfers take place, and most of it is a loop.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::parts {

/// Where a rank that is not the root stands: who is one nearer to the root and one farther, and how many
/// stand behind it, beginning with the one that is farther.
struct standing {
  int nearer, farther, behind;
};
constexpr standing standing_of(const shape& s) {
  if (s.rank < s.root) return {s.rank + 1, s.rank - 1, s.rank};
  return {s.rank - 1, s.rank + 1, s.size - 1 - s.rank};
}

/// The ranks on one side of the root: from it on, `length` of them, to the right (1) or to the left (-1).
struct row {
  int root, direction, length;
  constexpr int nearest() const { return root + direction; }
  /// The one `distance` away; in a loop each time `by` farther.
  constexpr index at_distance(int distance, int by) const {
    return at(root + direction * distance, direction * by);
  }
};
/// Both sides, the longer one first; without those that have nobody.
inline std::vector<row> rows_of(const shape& s) {
  std::vector<row> all{{s.root, 1, s.size - 1 - s.root}, {s.root, -1, s.root}};
  if (all[0].length < all[1].length) std::swap(all[0], all[1]);
  while (!all.empty() && all.back().length == 0) all.pop_back();
  return all;
}

/// Steps from the least of `marks` up to the greatest, that one left out; at each mark something begins or
/// ends. body(step, by) writes a step, which in a loop stands for every by-th from it on as well; where
/// `turns` is 2 even and odd steps of a loop are written apart.
template <class Body>
void in_stages(builder& b, int turns, std::vector<int> marks, Body&& body) {
  std::sort(marks.begin(), marks.end());
  int step = marks.front();
  for (const int end : marks) {
    const int trips = (end - step) / turns;
    if (trips > 1) {
      b.loop(trips, [&] {
        for (int i = 0; i < turns; ++i) {
          body(step + i, turns);
          b.round();
        }
      });
      step += trips * turns;
    }
    for (; step < end; ++step) {
      body(step, 0);
      b.round();
    }
  }
}

/// What the root of a gathering does where each rank sends its own block and then those from behind it.
inline void collect_from_rows(const shape& s, builder& b, table how) {
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.root, how));
  const std::vector<row> rows = rows_of(s);
  std::vector<int> marks{0};
  for (const row& one : rows) marks.push_back(one.length);
  in_stages(b, 1, marks, [&](int step, int by) {
    for (const row& one : rows)
      if (step < one.length) b.recv(one.nearest(), block(buffer::output, one.at_distance(step + 1, by), how));
  });
}

}  // namespace tutti::parts
