// SPDX-License-Identifier: Apache-2.0
//
// barrier/dissemination
//
// In round i every rank tells the rank 2^i above it and hears from the rank 2^i below it; after ceil(log2 p)
// rounds everybody has heard, directly or not, of everybody.
//
// Source:       Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988
// Rounds:       ceil(log2(p))
// Bytes:        0
// Scratch:      0
// Good for:     any number of ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::barrier_dissemination {

void write(const shape& s, builder& b) {
  for (int distance = 1; distance < s.size; distance *= 2) {
    b.exchange((s.rank + distance) % s.size, blocks(buffer::input, 0, 0),
               (s.rank - distance + s.size) % s.size, blocks(buffer::output, 0, 0));
    b.round();
  }
}

}  // namespace tutti::algorithms::barrier_dissemination
