// SPDX-License-Identifier: Apache-2.0
//
// scatter/knomial
//
// A k-nomial tree around the root: each rank receives the blocks of its subtree as one message and passes
// each child its part, the largest first. Only a root other than rank 0 has to bring its blocks into the
// order of the tree.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       (k - 1) * ceil_log(k, p)
// Bytes:        b * (p - 1)
// Scratch:      b * p
// Good for:     small blocks
#include "patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scatter_knomial {

void write(const shape& s, builder& b) {
  const int v = s.relative(), k = s.of(knob::k), mine = patterns::knomial_subtree(v, s.size, k);
  buffer held = buffer::scratch0;
  if (v == 0 && s.root == 0) {
    held = buffer::input;
  } else if (v == 0) {
    b.scratch(buffer::scratch0, s.size);
    const int behind = s.size - s.root;
    b.copy(blocks(buffer::input, s.root, behind), blocks(buffer::scratch0, 0, behind));
    b.copy(blocks(buffer::input, 0, s.root), blocks(buffer::scratch0, behind, s.root));
    b.round();
  } else if (mine == 1) {
    b.recv(s.absolute(patterns::knomial_parent(v, s.size, k)), whole(buffer::output));
    return;
  } else {
    b.scratch(buffer::scratch0, mine);
    b.recv(s.absolute(patterns::knomial_parent(v, s.size, k)), blocks(buffer::scratch0, 0, mine));
    b.round();
  }
  patterns::for_each_knomial_child_down(v, s.size, k, [&](int child) {
    b.send(s.absolute(child), blocks(held, child - v, patterns::knomial_subtree(child, s.size, k)));
  });
  if (v != 0 || !s.in_place)
    b.copy(v == 0 ? block(buffer::input, s.root) : block(held, 0), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatter_knomial
