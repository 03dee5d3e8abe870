// SPDX-License-Identifier: Apache-2.0
//
// allgatherv/bruck
//
// Each rank holds the blocks of the ranks from itself upwards, without gaps. A rank with D blocks
// sends the first min(D, p - D) to the rank D below. It receives as many from the rank D above. At
// the end it copies the blocks to their displacements.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997
// Reach:        hops around
// Rounds:       ceil_log(2, p)
// Bytes:        n - b
// Scratch:      p > 1 ? n + p * word : 0
// Good for:     small blocks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgatherv_bruck {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const place own = block(buffer::output, r, partition::output_counts);
  if (!s.in_place) b.copy(whole(buffer::input), own);
  if (p == 1) return;
  // Word i is the length of the block of the rank i above.
  b.words(p);
  b.loop(p, [&] { b.measure(block(buffer::output, at(r, 1, p), partition::output_counts), word(at(0, 1))); });
  b.reserve(dense(buffer::scratch0, 0, p));
  b.copy(own, dense(buffer::scratch0, 0));
  for (int received = 1; received < p;) {
    const int n = std::min(received, p - received);
    b.round();
    b.exchange((r - received + p) % p, dense(buffer::scratch0, 0, n), (r + received) % p,
               dense(buffer::scratch0, received, n));
    received += n;
  }
  b.loop(p - 1, [&] {
    b.copy(dense(buffer::scratch0, at(1, 1)),
           block(buffer::output, at(r + 1, 1, p), partition::output_counts));
  });
}

}  // namespace tutti::algorithms::allgatherv_bruck
