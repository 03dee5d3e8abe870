// SPDX-License-Identifier: Apache-2.0
//
// allgather/bruck
//
// Each rank holds the blocks of D ranks from itself upwards. It sends them to the k - 1 ranks that
// are D, 2D, 3D ... below. From the ranks equally far above it receives the blocks that follow its
// own. Blocks are always in their final position in the output. Only a message that wraps around
// the end passes through scratch, so that no rotation is needed at the end.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: one more than the number of messages in progress
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(k * p / pow(k, ceil_log(k, p))) - 1
// Bytes:        b * (p - 1)
// Scratch:      p <= k ? 0 : b * min(pow(k, ceil_log(k, p) - 1),
//                 max(p - pow(k, ceil_log(k, p) - 1), pow(k, ceil_log(k, p) - 2)))
// Good for:     small blocks on any number of ranks
#include "algorithms/parts/packing.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_bruck {

void write(const shape& s, builder& b) {
  const int p = s.size;
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.rank));
  parts::packing messages(b);
  parts::bruck(
      b, messages, p, s.rank, s.of(algorithm_parameter::k), [](int member) { return member; },
      [p](int first, int n) { return parts::cyclic(first, n, p); });
}

}  // namespace tutti::algorithms::allgather_bruck
