// SPDX-License-Identifier: Apache-2.0
//
// bcast/knomial
//
// A k-nomial tree around the root: whoever has the vector sends it to its children, the one with the largest
// subtree first.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       (k - 1) * ceil_log(k, p)
// Bytes:        n * (k - 1) * ceil_log(k, p)
// Scratch:      0
// Good for:     short vectors
#include "patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::bcast_knomial {

void write(const shape& s, builder& b) {
  const int v = s.relative();
  if (v != 0) b.recv(s.absolute(patterns::knomial_parent(v, s.size, s.of(knob::k))), whole(buffer::output));
  b.round();
  const place data = whole(v == 0 ? buffer::input : buffer::output);
  patterns::for_each_knomial_child_down(v, s.size, s.of(knob::k),
                                        [&](int child) { b.send(s.absolute(child), data); });
  b.round();
}

}  // namespace tutti::algorithms::bcast_knomial
