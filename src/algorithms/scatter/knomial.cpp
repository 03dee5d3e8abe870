// SPDX-License-Identifier: Apache-2.0
//
// scatter/knomial
//
// A k-nomial tree around the root. Each rank receives the blocks of its subtree as one message and
// sends each child its part, the largest first. Children that are served at the same time share the
// bandwidth of a link, so the deepest one waits for the others. A larger window pays if they read
// their blocks from shared memory. The root sends directly from its input, except for a subtree
// that contains the last ranks and the first ones.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: fan-out of the tree;
//                 window = 1 in 1..1024: children that are served at the same time
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(k * p / pow(k, ceil_log(k, p))) - 1
// Bytes:        b * (p - 1)
// Scratch:      p <= k ? 0 : b * min(pow(k, ceil_log(k, p) - 1),
//                 max(p - pow(k, ceil_log(k, p) - 1), pow(k, ceil_log(k, p) - 2)))
// Good for:     small blocks
#include "schedule/patterns/knomial.hpp"

#include "algorithms/parts/knomial_children.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scatter_knomial {

namespace {

void write_inner(const shape& s, builder& b, int v) {
  const int k = s.of(algorithm_parameter::k), mine = patterns::knomial_subtree(v, s.size, k);
  const int parent = s.absolute(patterns::knomial_parent(v, s.size, k));
  if (mine == 1) {
    b.recv(parent, whole(buffer::output));
    return;
  }
  b.scratch(buffer::scratch0, mine);
  b.recv(parent, blocks(buffer::scratch0, 0, mine));
  b.round();
  parts::serve_children(s, b, v, [&](int child) {
    b.send(s.absolute(child),
           blocks(buffer::scratch0, child - v, patterns::knomial_subtree(child, s.size, k)));
  });
  b.copy(block(buffer::scratch0, 0), whole(buffer::output));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (const int v = s.relative(); v != 0) {
    write_inner(s, b, v);
    return;
  }
  const int k = s.of(algorithm_parameter::k),
            last = s.size - s.root;  // at this position ranks begin again at 0
  const auto over_the_end = [&](int child) {
    return child < last && child + patterns::knomial_subtree(child, s.size, k) > last;
  };
  patterns::for_each_knomial_child(0, s.size, k, [&](int child) {
    if (!over_the_end(child)) return;
    const int n = patterns::knomial_subtree(child, s.size, k), low = last - child;
    b.scratch(buffer::scratch0, n);
    b.copy(blocks(buffer::input, s.absolute(child), low), blocks(buffer::scratch0, 0, low));
    b.copy(blocks(buffer::input, 0, n - low), blocks(buffer::scratch0, low, n - low));
  });
  parts::serve_children(s, b, 0, [&](int child) {
    const int n = patterns::knomial_subtree(child, s.size, k);
    b.send(s.absolute(child), over_the_end(child) ? blocks(buffer::scratch0, 0, n)
                                                  : blocks(buffer::input, s.absolute(child), n));
  });
  if (!s.in_place) b.copy(block(buffer::input, s.root), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatter_knomial
