// SPDX-License-Identifier: Apache-2.0
//
// gather/knomial
//
// A k-nomial tree around the root: each rank collects the blocks of its subtree, which are consecutive from
// the root on, and sends them up as one message. Only a root other than rank 0 has to put its blocks in
// order.
//
// Source:       folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       (k - 1) * ceil_log(k, p)
// Bytes:        b * p / 2
// Scratch:      b * p
// Good for:     small blocks
#include "patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::gather_knomial {

void write(const shape& s, builder& b) {
  const int v = s.relative(), k = s.of(knob::k), mine = patterns::knomial_subtree(v, s.size, k);
  if (v != 0) {
    place held = whole(buffer::input);
    if (mine > 1) {
      b.scratch(buffer::scratch0, mine);
      patterns::for_each_knomial_child(v, s.size, k, [&](int child) {
        b.recv(s.absolute(child),
               blocks(buffer::scratch0, child - v, patterns::knomial_subtree(child, s.size, k)));
      });
      b.copy(whole(buffer::input), block(buffer::scratch0, 0));
      b.round();
      held = blocks(buffer::scratch0, 0, mine);
    }
    b.send(s.absolute(patterns::knomial_parent(v, s.size, k)), held);
    return;
  }
  const bool rotated = s.root != 0;
  const buffer into = rotated ? buffer::scratch0 : buffer::output;
  if (rotated) b.scratch(buffer::scratch0, s.size);
  patterns::for_each_knomial_child(v, s.size, k, [&](int child) {
    b.recv(s.absolute(child), blocks(into, child, patterns::knomial_subtree(child, s.size, k)));
  });
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.root));
  if (!rotated) return;
  // Position v is rank v + root: the blocks after the root's, then those that wrapped around to the front.
  const int behind = s.size - s.root;
  if (behind > 1)
    b.copy(blocks(buffer::scratch0, 1, behind - 1), blocks(buffer::output, s.root + 1, behind - 1));
  b.copy(blocks(buffer::scratch0, behind, s.root), blocks(buffer::output, 0, s.root));
}

}  // namespace tutti::algorithms::gather_knomial
