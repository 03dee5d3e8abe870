// SPDX-License-Identifier: Apache-2.0
//
// reduce/knomial
//
// A k-nomial tree. Children are combined in ascending order, so that the tree rooted at rank 0
// combines in rank order. If the order matters and the root is another rank, rank 0 sends it the
// result.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(p * k / pow(k, ceil_log(k, p))) - 1
//                 + (ordered && root > 0)
// Bytes:        n * ((k - 1) * (ceil_log(k, p) - 1) + ceil(p * k / pow(k, ceil_log(k, p))) - 1)
// Scratch:      p > k || (ordered && root > 0) ? n : 0
// Good for:     short vectors, and operators that do not commute
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial_levels.hpp"

namespace tutti::algorithms::reduce_knomial {

void write(const shape& s, builder& b) {
  // Operands are combined in the order of positions, so positions are ranks unless the order does
  // not matter.
  const int p = s.size, r = s.rank, k = s.of(algorithm_parameter::k), base = s.commutative ? s.root : 0;
  const int v = (r - base + p) % p;
  const bool forwarded = base != s.root, ends_here = v == 0 && !forwarded;
  const place result = whole(ends_here ? buffer::output : buffer::scratch0);
  place own = whole(buffer::input);
  patterns::for_each_knomial_level(v, p, k, [&](int u, int children) {
    const auto add = [&](int i, int step) {
      b.recv_reduce_right(parts::around(r + u, u, i, step, p), own, result);
      own = result;
    };
    if (own.where == buffer::input) {  // the first child
      if (!ends_here) b.scratch(buffer::scratch0, 1);
      add(0, 0);
      b.round();
      parts::in_windows(b, children - 1, 1, [&](int i, int step) { add(i + 1, step); });
    } else {
      parts::in_windows(b, children, 1, add);
    }
    b.round();
  });
  if (v != 0) {
    b.send((patterns::knomial_parent(v, p, k) + base) % p, own);
  } else if (forwarded) {
    b.send(s.root, own);
  } else if (p == 1 && !s.in_place) {
    b.copy(own, result);
  }
  b.round();
  if (forwarded && r == s.root) b.recv(0, whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_knomial
