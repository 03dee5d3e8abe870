// SPDX-License-Identifier: Apache-2.0
//
// reduce/knomial
//
// A k-nomial tree: children are added in rising order, so the tree rooted at rank 0 combines in rank order;
// where order matters and the root is another rank, the result is passed on to it.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       (k - 1) * ceil_log(k, p) + 1
// Bytes:        n
// Scratch:      n
// Good for:     short vectors, and operators that do not commute
#include "patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_knomial {

void write(const shape& s, builder& b) {
  // Order is that of positions in the tree, so positions are ranks unless order does not matter.
  const bool forwarded = !s.commutative && s.root != 0;
  const int base = s.commutative ? s.root : 0;
  const int v = (s.rank - base + s.size) % s.size;
  const auto rank_at = [&](int position) { return (position + base) % s.size; };
  const bool ends_here = v == 0 && !forwarded;
  const buffer result = ends_here ? buffer::output : buffer::scratch0;
  place own = whole(buffer::input);
  if (!ends_here) b.scratch(buffer::scratch0, 1);
  bool alone = true;
  patterns::for_each_knomial_child(v, s.size, s.of(knob::k), [&](int child) {
    b.recv_reduce_right({rank_at(child)}, own, whole(result));
    b.round();
    own = whole(result);
    alone = false;
  });
  if (v != 0) {
    b.send(rank_at(patterns::knomial_parent(v, s.size, s.of(knob::k))), own);
  } else if (forwarded) {
    b.send(s.root, own);
  } else if (alone && !s.in_place) {
    b.copy(own, whole(buffer::output));
  }
  b.round();
  if (forwarded && s.rank == s.root) b.recv(0, whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_knomial
