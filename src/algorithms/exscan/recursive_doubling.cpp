// SPDX-License-Identifier: Apache-2.0
//
// exscan/recursive_doubling
//
// Operands move up by one rank. The ranks from 1 on perform an inclusive scan of what they received
// by recursive doubling. Rank 0 only sends.
//
// Source:       Hillis, Steele 1986
// Reach:        hops
// Rounds:       p > 1 ? 1 + ceil_log(2, p - 1) : 0
// Bytes:        p > 1 ? n * (1 + ceil_log(2, p - 1)) : 0
// Scratch:      p > 2 ? n : 0
// Good for:     short vectors
#include "algorithms/parts/alternating_buffers.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::exscan_recursive_doubling {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (r + 1 < p) b.send(r + 1, whole(buffer::input));
  if (r == 0) return;
  // The operand of the rank below is the first partial result.
  int busy = r + 1 < p ? 1 : 0, idle = 1 - busy;
  for (int d = 1; d < r; d *= 2) ++(r + d < p ? busy : idle);
  const parts::alternating_buffers result(busy, idle, s.in_place);
  if (result.use_scratch()) b.scratch(buffer::scratch0, 1);
  place own = whole(result.of(0));
  b.recv(r - 1, own);
  b.round();
  int results = 1;
  for (int d = 1; d < p - 1; d *= 2) {
    const place next = whole(result.of(results));
    if (r + d < p) b.send(r + d, own);
    if (d < r) b.recv_reduce_left({r - d}, own, next);
    b.round();
    if (d >= r) continue;
    own = next;
    ++results;
  }
  if (result.end_in_scratch()) b.copy(own, whole(buffer::output));
}

}  // namespace tutti::algorithms::exscan_recursive_doubling
