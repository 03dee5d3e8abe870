// SPDX-License-Identifier: Apache-2.0
//
// scan/recursive_doubling
//
// In round i a rank sends its partial result, which covers the 2^i ranks up to itself, to the rank
// 2^i above. It combines what arrives from the rank 2^i below on the left of its own. Two buffers
// alternate while it sends.
//
// Source:       Hillis, Steele 1986
// Reach:        hops
// Rounds:       ceil_log(2, p)
// Bytes:        n * ceil_log(2, p)
// Scratch:      p > 2 ? n : 0
// Good for:     short vectors
#include "algorithms/parts/alternating_buffers.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scan_recursive_doubling {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  int busy = 0, idle = 0;
  for (int d = 1; d <= r; d *= 2) ++(r + d < p ? busy : idle);
  const parts::alternating_buffers result(busy, idle, s.in_place);
  if (result.use_scratch()) b.scratch(buffer::scratch0, 1);
  place own = whole(buffer::input);
  int results = 0;
  for (int d = 1; d < p; d *= 2) {
    const place next = whole(result.of(results));
    if (r + d < p) b.send(r + d, own);
    if (d <= r) b.recv_reduce_left({r - d}, own, next);
    b.round();
    if (d > r) continue;
    own = next;
    ++results;
  }
  if (result.end_in_scratch() || (r == 0 && !s.in_place)) b.copy(own, whole(buffer::output));
}

}  // namespace tutti::algorithms::scan_recursive_doubling
