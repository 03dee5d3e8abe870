// SPDX-License-Identifier: Apache-2.0
//
// allgather/bruck
//
// Each rank holds the blocks of the ranks from itself upwards. With D blocks at hand it sends the first
// min(D, p - D) to the rank D below and receives as many from the rank D above; at the end the blocks are
// rotated into place.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997
// Rounds:       ceil(log2(p))
// Bytes:        b * (p - 1)
// Scratch:      b * p
// Good for:     small blocks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_bruck {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  b.scratch(buffer::scratch0, p);
  b.copy(s.in_place ? block(buffer::output, r) : whole(buffer::input), block(buffer::scratch0, 0));
  b.round();
  for (int held = 1; held < p; held *= 2) {
    const int n = held < p - held ? held : p - held;
    b.exchange((r - held + p) % p, blocks(buffer::scratch0, 0, n), (r + held) % p,
               blocks(buffer::scratch0, held, n));
    b.round();
  }
  b.copy(blocks(buffer::scratch0, 0, p - r), blocks(buffer::output, r, p - r));
  if (r > 0) b.copy(blocks(buffer::scratch0, p - r, r), blocks(buffer::output, 0, r));
}

}  // namespace tutti::algorithms::allgather_bruck
