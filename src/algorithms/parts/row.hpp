// SPDX-License-Identifier: Apache-2.0
//
// Rows of ranks, each of which communicates only with its two neighbors. A root has two rows, one
// on each side. Transfers that last for different numbers of steps are written in stages. A stage
// contains the steps with the same transfers, and most of it is a loop.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::parts {

/// The position of a rank that is not the root. It has the neighbor nearer to the root, the one
/// farther from it, and the number of ranks behind.
struct row_position {
  int nearer, farther, behind;
};
constexpr row_position row_position_of(const shape& s) {
  if (s.rank < s.root) return {s.rank + 1, s.rank - 1, s.rank};
  return {s.rank - 1, s.rank + 1, s.size - 1 - s.rank};
}

/// The ranks on one side of the root: `length` ranks to the right (1) or to the left (-1).
struct row {
  int root, direction, length;
  constexpr int nearest() const { return root + direction; }
  /// The rank at `distance`, which grows by `by` in each iteration of a loop.
  constexpr index at_distance(int distance, int by) const {
    return at(root + direction * distance, direction * by);
  }
};
/// Both sides, the longer one first; empty sides are omitted.
inline std::vector<row> rows_of(const shape& s) {
  std::vector<row> all{{s.root, 1, s.size - 1 - s.root}, {s.root, -1, s.root}};
  if (all[0].length < all[1].length) std::swap(all[0], all[1]);
  while (!all.empty() && all.back().length == 0) all.pop_back();
  return all;
}

/// Writes the steps from the smallest of `marks` up to but not including the largest. At each mark
/// a transfer begins or ends. body(step, by) writes a step; in a loop it represents every by-th
/// step from it on as well. If `turns` is 2, even and odd steps of a loop are written separately.
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

/// The root's part of a gather in which each rank sends its own block first and then those from
/// behind it.
inline void gather_from_rows(const shape& s, builder& b, partition how) {
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
