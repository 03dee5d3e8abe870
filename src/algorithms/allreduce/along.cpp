// SPDX-License-Identifier: Apache-2.0
//
// allreduce/along
//
// Partial results go from rank to rank to the last one, and the total returns the same way. Both
// travel in segments, at the same time. In each round a rank combines its operand with a new
// segment and forwards the one before. It also forwards the total of an older segment, whose
// partial result it sent long ago. All ranks receive the value that the last rank computed, so all
// results are identical.
//
// Source:       folklore; pipelined chain
// Reach:        neighbors
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p < 3 ? (segments + 1) * (p - 1) : 2 * (segments + p - 2)
// Bytes:        p < 2 ? 0 : p == 2 ? n : 2 * n
// Scratch:      0
// Good for:     groups whose members know only their neighbors, also with operators that do not
//                 commute
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_along {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (p == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  // The number of rounds between a partial result and its total on this rank: two for every rank
  // above it.
  const int later = 2 * (p - 1 - r);
  const auto part = [](buffer which, int first) { return segment(whole(which), at(first, 1)); };
  b.loop({later + (r > 0 ? 1 : 0), 1}, [&] {
    if (r > 0) {
      b.recv_reduce_left({r - 1}, part(buffer::input, 0), part(buffer::output, 0));
      b.send(r - 1, part(buffer::output, -later - 1));
    }
    if (r + 1 < p)
      b.exchange(r + 1, part(r == 0 ? buffer::input : buffer::output, -1), r + 1,
                 part(buffer::output, -later));
  });
}

}  // namespace tutti::algorithms::allreduce_along
