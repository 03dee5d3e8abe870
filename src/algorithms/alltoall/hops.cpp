// SPDX-License-Identifier: Apache-2.0
//
// alltoall/hops
//
// A block travels up or down to its destination by the bits of its distance, the lowest first. All
// blocks that hop in the same direction by the same bit travel in one message. No message wraps
// around the ends.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997; both ways instead of around: this
//                 project
// Reach:        hops
// Rounds:       p == 1 ? 0 : 2 * ceil_log(2, p) - 1
// Bytes:        <= b * p * (ceil_log(2, p) + 1) / 2
// Scratch:      <= p == 1 ? 0 : 4 * b * p
// Good for:     small blocks, and groups whose members know only those 2^d away
#include "algorithms/parts/hop_exchange.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoall_hops {

void write(const shape& s, builder& b) {
  parts::hop_exchange(s, b).write([](index i) { return block(buffer::input, i); },
                                  [](index i) { return block(buffer::output, i); });
}

}  // namespace tutti::algorithms::alltoall_hops
