// SPDX-License-Identifier: Apache-2.0
//
// alltoall/in_place_exchange
//
// The ranks exchange blocks in pairs, as in a round-robin tournament. In place, a received block
// waits in a single scratch block until the block that it replaces has been sent.
//
// Source:       folklore; MPICH
// Rounds:       p < 2 ? 0 : 2 * ceil(p / 2) - 1
// Bytes:        b * (p - 1)
// Scratch:      in_place ? b : 0
// Good for:     calls in place
#include "algorithms/parts/tournament.hpp"

namespace tutti::algorithms::alltoall_in_place_exchange {

void write(const shape& s, builder& b) {
  if (s.in_place) return parts::exchange_in_place(s, b, partition::uniform);
  b.copy(block(buffer::input, s.rank), block(buffer::output, s.rank));
  parts::exchange_with_all(s, b, [&](index partner) {
    b.exchange(partner, block(buffer::input, partner), partner, block(buffer::output, partner));
  });
}

}  // namespace tutti::algorithms::alltoall_in_place_exchange
