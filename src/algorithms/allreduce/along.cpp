// SPDX-License-Identifier: Apache-2.0
//
// allreduce/along
//
// Partial results go from rank to rank to the last one, and the total comes back the same way, in segments,
// both at once: in each round a rank adds its operand to a new segment, passes the one before it on, and does
// the same with the totals of older segments, which are those whose partial results it has long sent away.
// All have the very total that the last rank computed.
//
// Source:       folklore; pipelined chain
// Reach:        neighbors
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p < 3 ? (segments + 1) * (p - 1) : 2 * (segments + p - 2)
// Bytes:        p < 2 ? 0 : p == 2 ? n : 2 * n
// Scratch:      0
// Good for:     ranks that know their neighbours only, operators that do not commute included
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_along {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (p == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  // A total comes back so many rounds after the partial result came by: there and back for every rank above.
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
