// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/hops, alltoallw/hops
//
// A block travels up or down to its destination by the bits of its distance, the lowest first. All
// blocks that hop in the same direction by the same bit travel in one message; a message before it
// contains their lengths. No message wraps around the ends. On its way a block has a slot as wide
// as the longest block of all ranks, which the ranks compute first.
//
// Source:       Fan et al. 2022 (HPDC), two-phase Bruck; both ways instead of around: this project
// Reach:        hops
// Rounds:       p == 1 ? 0 : 6 * ceil_log(2, p) - 3
// Bytes:        <= (b + word) * p * (ceil_log(2, p) + 1) / 2 + 2 * word * ceil_log(2, p)
// Scratch:      <= p == 1 ? 0 : 4 * b * p
// Good for:     small blocks, and groups whose members know only those 2^d away
#include "algorithms/parts/hop_exchange.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoallv_hops {

void write(const shape& s, builder& b) {
  // In place, the operand's blocks have the layout of the result.
  parts::hop_exchange(s, b).write(
      [&](index i) {
        return s.in_place ? block(buffer::output, i, partition::output_counts)
                          : block(buffer::input, i, partition::input_counts);
      },
      [](index i) { return block(buffer::output, i, partition::output_counts); });
}

}  // namespace tutti::algorithms::alltoallv_hops
