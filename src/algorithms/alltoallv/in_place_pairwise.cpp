// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/in_place_pairwise
//
// In step i a rank exchanges blocks with the rank whose number and its own add up to i modulo p, through
// scratch of the longest block.
//
// Source:       folklore; MPICH
// Restrictions: in_place
// Rounds:       p
// Bytes:        n
// Scratch:      b
// Good for:     calls in place
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoallv_in_place_pairwise {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  b.scratch(buffer::scratch0, 1, table::out);
  b.round();
  b.loop(p, [&] {
    const index partner = at(-r, 1, p);
    const place mine = block(buffer::output, partner, table::out);
    // What is sent is set aside first: the partner's block is received where it stood.
    place aside = mine;
    aside.where = buffer::scratch0;
    aside.packed = true;
    b.copy(mine, aside);
    b.round();
    b.exchange(partner, aside, partner, mine);
  });
}

}  // namespace tutti::algorithms::alltoallv_in_place_pairwise
