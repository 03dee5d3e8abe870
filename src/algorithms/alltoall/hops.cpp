// SPDX-License-Identifier: Apache-2.0
//
// alltoall/hops
//
// A block travels up or down to its rank by the bits of its distance, the lowest first, and all blocks that
// hop the same way by the same bit travel in one message. Nothing goes around the ends.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997; both ways instead of around: this project
// Reach:        hops
// Rounds:       p == 1 ? 0 : 2 * ceil_log(2, p) - 1
// Bytes:        <= b * p * (ceil_log(2, p) + 1) / 2
// Scratch:      <= p == 1 ? 0 : 4 * b * p
// Good for:     small blocks, and ranks that know those 2^d away only
#include "algorithms/parts/hop_exchange.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoall_hops {

void write(const shape& s, builder& b) {
  parts::hop_exchange(s, b).write([](index i) { return block(buffer::input, i); },
                                  [](index i) { return block(buffer::output, i); });
}

}  // namespace tutti::algorithms::alltoall_hops
