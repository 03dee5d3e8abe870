// SPDX-License-Identifier: Apache-2.0
//
// bcast/knomial
//
// A k-nomial tree around the root: a rank that has the vector sends it to its children, those with
// the largest subtrees first. Children that are served at the same time share the bandwidth of a
// link, so the deepest one waits for the others. A larger window pays if they read the vector from
// shared memory.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: fan-out of the tree;
//                 window = 1 in 1..1024: children that are served at the same time
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(p * k / pow(k, ceil_log(k, p))) - 1
// Bytes:        n * ((k - 1) * (ceil_log(k, p) - 1) + ceil(p * k / pow(k, ceil_log(k, p))) - 1)
// Scratch:      0
// Good for:     short vectors
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial_levels.hpp"

namespace tutti::algorithms::bcast_knomial {

void write(const shape& s, builder& b) {
  const int p = s.size, v = s.relative(), k = s.of(algorithm_parameter::k),
            window = s.of(algorithm_parameter::window);
  if (v != 0) b.recv(s.absolute(patterns::knomial_parent(v, p, k)), whole(buffer::output));
  b.round();
  const place data = whole(v == 0 ? buffer::input : buffer::output);
  int open = 0;
  patterns::for_each_knomial_level_down(v, p, k, [&](int u, int children) {
    open = parts::in_windows(
        b, children, window, [&](int i, int step) { b.send(parts::around(s.rank + u, u, i, step, p), data); },
        open);
  });
}

}  // namespace tutti::algorithms::bcast_knomial
