// SPDX-License-Identifier: Apache-2.0
//
// barrier/tree
//
// Notifications go up a k-nomial tree to rank 0 when all ranks of a subtree have entered, and down
// again.
//
// Source:       folklore; Mellor-Crummey, Scott 1991
// Reach:        hops with k = 2
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       2 * ((k - 1) * (ceil_log(k, p) - 1) + ceil(p * k / pow(k, ceil_log(k, p))) - 1)
// Bytes:        0
// Scratch:      0
// Good for:     engines on which few messages matter more than few rounds
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial_levels.hpp"

namespace tutti::algorithms::barrier_tree {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, k = s.of(algorithm_parameter::k);
  const place in = blocks(buffer::input, 0, 0), out = blocks(buffer::output, 0, 0);
  patterns::for_each_knomial_level(r, p, k, [&](int u, int children) {
    parts::in_windows(b, children, parts::default_window,
                      [&](int i, int step) { b.recv(parts::around(r + u, u, i, step, p), out); });
  });
  b.round();
  if (r != 0) {
    const int parent = patterns::knomial_parent(r, p, k);
    b.exchange(parent, in, parent, out);
    b.round();
  }
  patterns::for_each_knomial_level_down(r, p, k, [&](int u, int children) {
    parts::in_windows(b, children, parts::default_window,
                      [&](int i, int step) { b.send(parts::around(r + u, u, i, step, p), in); });
  });
}

}  // namespace tutti::algorithms::barrier_tree
