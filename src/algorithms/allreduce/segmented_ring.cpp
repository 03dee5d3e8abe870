// SPDX-License-Identifier: Apache-2.0
//
// allreduce/segmented_ring
//
// The vector is cut into p blocks, and each block into segments. A segment of every block travels
// once around the ring to be reduced, and once more to be distributed. While it makes its second
// turn, the next segment makes its first. So a rank has two messages in progress and combines one
// while the other is transferred. It forwards what it has just written.
//
// Source:       Patarasuk, Yuan 2009; the segments as in Open MPI
// Restrictions: commutative
// Reach:        neighbors around
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       2 * (p - 1) * ceil(n / p / segment)
// Bytes:        2 * n * (p - 1) / p
// Scratch:      0
// Good for:     very long vectors on few ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_segmented_ring {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const int p = s.size, r = s.rank, up = (r + 1) % p, down = (r + p - 1) % p;
  b.split_into(p);
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  const auto part = [&](buffer which, index at_block, index at_segment) {
    return segment(block(which, at_block, partition::split), at_segment);
  };
  const auto step = [&](buffer source, index sent_block, index current, index previous) {
    b.send(up, part(source, sent_block, current));
    b.recv_reduce_left({down}, part(buffer::input, plus(sent_block, -1), current),
                       part(buffer::output, plus(sent_block, -1), current));
    b.exchange(up, part(buffer::output, plus(sent_block, 1), previous), down,
               part(buffer::output, sent_block, previous));
  };
  b.loop({1, 2}, [&] {
    // The loop over segments is the inner counter here, and the outer one within the loop below.
    step(buffer::input, at(r, 0, p), at(0, 1), at(-1, 1));
    b.loop(p - 2, [&] { step(buffer::output, at(r - 1, -1, p), at_outer(0, 1), at_outer(-1, 1)); });
  });
}

}  // namespace tutti::algorithms::allreduce_segmented_ring
