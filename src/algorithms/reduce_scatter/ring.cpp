// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/ring, reduce_scatter_block/ring
//
// A partial result of each block travels around the ring, beginning at the rank above the block's
// owner, and collects every operand on its way. Two blocks of scratch alternate: one is sent while
// the other is received.
//
// Source:       Patarasuk, Yuan 2009
// Restrictions: commutative
// Reach:        neighbors around
// Rounds:       p - 1
// Bytes:        n * (p - 1) / p
// Scratch:      p == 1 ? 0 : b * min(2, p - 2 + in_place)
// Good for:     large blocks; only neighbors communicate
#include <algorithm>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_ring {

void write(const shape& s, builder& b) {
  const partition how = operand_partition(s);
  const int p = s.size, r = s.rank, up = (r + 1) % p, down = (r + p - 1) % p;
  const place own = block(buffer::input, r, how);
  if (p == 1) {
    if (!s.in_place) b.copy(own, whole(buffer::output));
    return;
  }
  // In place, the output may overlap with the operand of the last step; rank 0's output is that
  // operand.
  const bool direct = !s.in_place || r == 0;
  const int by_scratch = direct ? p - 2 : p - 1;  // number of steps
  constexpr buffer turns[] = {buffer::scratch0, buffer::scratch1};
  for (int i = 0; i < std::min(2, by_scratch); ++i) b.scratch(turns[i], 1, how);
  // Step i sends the partial result of block r - 1 - i and receives that of block r - 2 - i. In the
  // loop a call also represents the steps i + 2, i + 4, ...
  const auto send_partial = [&](int i) {
    const place operand = block(buffer::input, at(r - 1 - i, -2, p), how);
    place partial = packed(operand);
    partial.where = turns[(i + 1) % 2];
    b.send(up, i == 0 ? operand : partial);
  };
  const auto step = [&](int i) {
    const place operand = block(buffer::input, at(r - 2 - i, -2, p), how);
    place partial = packed(operand);
    partial.where = turns[i % 2];
    send_partial(i);
    b.recv_reduce_left({down}, operand, partial);
    b.round();
  };
  if (by_scratch > 0) step(0);
  b.loop((by_scratch - 1) / 2, [&] {
    step(1);
    step(2);
  });
  if (by_scratch > 0 && by_scratch % 2 == 0) step(by_scratch - 1);
  if (direct) {
    send_partial(p - 2);
    b.recv_reduce_left({down}, own, whole(buffer::output));
  } else {
    place result = packed(own);
    result.where = turns[by_scratch % 2 == 0 ? 1 : 0];
    b.copy(result, whole(buffer::output));
  }
}

}  // namespace tutti::algorithms::reduce_scatter_ring
