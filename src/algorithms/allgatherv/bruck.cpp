// SPDX-License-Identifier: Apache-2.0
//
// allgatherv/bruck
//
// Each rank holds the blocks of the ranks from itself upwards, without gaps. A rank with D blocks
// sends the first of them to the k - 1 ranks that are D, 2D, 3D ... below. From the ranks equally
// far above it receives the blocks that follow its own. At the end it copies the blocks to their
// displacements.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: one more than the number of messages in progress
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(k * p / pow(k, ceil_log(k, p))) - 1
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
  const int k = s.of(algorithm_parameter::k);
  for (long long held = 1; held < p; held *= k) {
    b.round();
    for (long long distance = held; distance < std::min<long long>(k * held, p); distance += held) {
      const int d = static_cast<int>(distance), n = std::min(static_cast<int>(held), p - d);
      b.exchange((r - d + p) % p, dense(buffer::scratch0, 0, n), (r + d) % p, dense(buffer::scratch0, d, n));
    }
  }
  b.loop(p - 1, [&] {
    b.copy(dense(buffer::scratch0, at(1, 1)),
           block(buffer::output, at(r + 1, 1, p), partition::output_counts));
  });
}

}  // namespace tutti::algorithms::allgatherv_bruck
