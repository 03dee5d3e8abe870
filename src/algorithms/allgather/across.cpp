// SPDX-License-Identifier: Apache-2.0
//
// allgather/across, allgatherv/across
//
// Every rank sends its block to each rank of the other group and receives their blocks, a window of
// messages at a time.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Rounds:       <= p - 1
// Bytes:        <= b * (p - 1)
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::allgather_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const partition how = result_partition(s);
  parts::for_each_pairing(group, b, [&](int first, int step) {
    const index rank = at(group.remote(first), step);
    b.exchange(rank, whole(buffer::input), rank, block(buffer::output, at(first, step), how));
  });
}

}  // namespace tutti::algorithms::allgather_across
