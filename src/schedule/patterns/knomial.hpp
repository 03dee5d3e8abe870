// SPDX-License-Identifier: Apache-2.0
//
// The k-nomial tree over positions 0 .. p-1 with root 0. The subtree of v is the interval [v, v +
// width), cut off at p.
#pragma once

#include <algorithm>
#include <vector>

namespace tutti::patterns {

/// The largest power of k that divides v; for the root, the smallest power of k that is at least p.
constexpr int knomial_width(int v, int p, int k) {
  int w = 1;
  if (v == 0) {
    while (w < p) w *= k;
  } else {
    while (v % (w * k) == 0) w *= k;
  }
  return w;
}

constexpr int knomial_parent(int v, int p, int k) {
  const int w = knomial_width(v, p, k);
  return v - (v / w % k) * w;
}

/// The number of positions in the subtree of v.
constexpr int knomial_subtree(int v, int p, int k) { return std::min(v + knomial_width(v, p, k), p) - v; }

/// Calls body(child) in ascending order.
template <class Body>
void for_each_knomial_child(int v, int p, int k, Body&& body) {
  const int w = knomial_width(v, p, k);
  for (int u = 1; u < w; u *= k)
    for (int i = 1; i < k && v + i * u < p; ++i) body(v + i * u);
}

/// The same as for_each_knomial_child, largest subtree first.
template <class Body>
void for_each_knomial_child_down(int v, int p, int k, Body&& body) {
  std::vector<int> children;
  for_each_knomial_child(v, p, k, [&](int c) { children.push_back(c); });
  for (auto c = children.rbegin(); c != children.rend(); ++c) body(*c);
}

}  // namespace tutti::patterns
