// SPDX-License-Identifier: Apache-2.0
//
// alltoall/across, alltoallv/across, alltoallw/across
//
// Every rank exchanges blocks with each rank of the other group, a window of messages at a time.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Rounds:       <= p - 1
// Bytes:        <= n
// Scratch:      0
// Good for:     any two groups
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::alltoall_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const bool even = s.what == collective::alltoall;
  const partition in = even ? partition::uniform : partition::input_counts,
                  out = even ? partition::uniform : partition::output_counts;
  parts::for_each_pairing(group, b, [&](int first, int step) {
    const index rank = at(group.remote(first), step), member = at(first, step);
    b.exchange(rank, block(buffer::input, member, in), rank, block(buffer::output, member, out));
  });
}

}  // namespace tutti::algorithms::alltoall_across
