// SPDX-License-Identifier: Apache-2.0
//
// gather/knomial
//
// A k-nomial tree around the root. Each rank collects the blocks of its subtree, which are
// consecutive from its own on, and sends them up as one message. The root receives them in their
// final positions, except for a subtree that contains the last ranks and the first ones.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(k * p / pow(k, ceil_log(k, p))) - 1
// Bytes:        b * (p - 1)
// Scratch:      p <= k ? 0 : b * min(pow(k, ceil_log(k, p) - 1),
//                 max(p - pow(k, ceil_log(k, p) - 1), pow(k, ceil_log(k, p) - 2)))
// Good for:     small blocks
#include "schedule/patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::gather_knomial {

namespace {

void write_inner(const shape& s, builder& b, int v) {
  const int k = s.of(algorithm_parameter::k), mine = patterns::knomial_subtree(v, s.size, k);
  const int parent = s.absolute(patterns::knomial_parent(v, s.size, k));
  if (mine == 1) {
    b.send(parent, whole(buffer::input));
    return;
  }
  b.scratch(buffer::scratch0, mine);
  patterns::for_each_knomial_child(v, s.size, k, [&](int child) {
    b.recv(s.absolute(child),
           blocks(buffer::scratch0, child - v, patterns::knomial_subtree(child, s.size, k)));
  });
  b.copy(whole(buffer::input), block(buffer::scratch0, 0));
  b.send(parent, blocks(buffer::scratch0, 0, mine));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (const int v = s.relative(); v != 0) {
    write_inner(s, b, v);
    return;
  }
  const int k = s.of(algorithm_parameter::k),
            last = s.size - s.root;  // at this position ranks begin again at 0
  int over_the_end = 0;
  patterns::for_each_knomial_child(0, s.size, k, [&](int child) {
    const int n = patterns::knomial_subtree(child, s.size, k);
    if (child < last && child + n > last) {
      over_the_end = child;
      b.scratch(buffer::scratch0, n);
      b.recv(s.absolute(child), blocks(buffer::scratch0, 0, n));
    } else {
      b.recv(s.absolute(child), blocks(buffer::output, s.absolute(child), n));
    }
  });
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.root));
  if (over_the_end == 0) return;
  const int n = patterns::knomial_subtree(over_the_end, s.size, k), low = last - over_the_end;
  b.copy(blocks(buffer::scratch0, 0, low), blocks(buffer::output, s.absolute(over_the_end), low));
  b.copy(blocks(buffer::scratch0, low, n - low), blocks(buffer::output, 0, n - low));
}

}  // namespace tutti::algorithms::gather_knomial
