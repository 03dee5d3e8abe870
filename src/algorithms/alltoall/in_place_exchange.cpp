// SPDX-License-Identifier: Apache-2.0
//
// alltoall/in_place_exchange
//
// In step i a rank exchanges blocks with the rank whose number and its own add up to i modulo p, through one
// block of scratch. Needs no second buffer.
//
// Source:       folklore; MPICH
// Rounds:       p
// Bytes:        b * (p - 1)
// Scratch:      b
// Good for:     calls in place
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoall_in_place_exchange {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  b.scratch(buffer::scratch0, 1);
  if (!s.in_place) b.copy(blocks(buffer::input, 0, p), blocks(buffer::output, 0, p));
  b.round();
  b.loop(p, [&] {
    const index partner = at(-r, 1, p);
    b.exchange(partner, block(buffer::output, partner), partner, whole(buffer::scratch0));
    b.copy(whole(buffer::scratch0), block(buffer::output, partner));
  });
}

}  // namespace tutti::algorithms::alltoall_in_place_exchange
