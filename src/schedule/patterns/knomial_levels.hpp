// SPDX-License-Identifier: Apache-2.0
//
// Groups the children of a k-nomial tree by level. Children whose subtrees have the same width u
// are u apart, at v + u, v + 2u ...
#pragma once

#include <algorithm>

#include "schedule/patterns/knomial.hpp"

namespace tutti::patterns {

/// The number of children of v at multiples of u.
constexpr int knomial_siblings(int v, int p, int k, int u) { return std::min(k - 1, (p - 1 - v) / u); }

/// Calls body(u, count) in ascending order of u.
template <class Body>
void for_each_knomial_level(int v, int p, int k, Body&& body) {
  const int w = knomial_width(v, p, k);
  for (int u = 1; u < w; u *= k)
    if (const int n = knomial_siblings(v, p, k, u); n > 0) body(u, n);
}

/// The same as for_each_knomial_level, largest subtrees first.
template <class Body>
void for_each_knomial_level_down(int v, int p, int k, Body&& body) {
  for (int u = knomial_width(v, p, k) / k; u > 0; u /= k)
    if (const int n = knomial_siblings(v, p, k, u); n > 0) body(u, n);
}

}  // namespace tutti::patterns
