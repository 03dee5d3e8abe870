// SPDX-License-Identifier: Apache-2.0
//
// exscan/recursive_doubling
//
// Operands move up by one rank, and the ranks from 1 on make an inclusive scan of what they received by
// recursive doubling. Rank 0 only sends.
//
// Source:       Hillis, Steele 1986
// Rounds:       1 + ceil(log2(p - 1))
// Bytes:        n * (1 + ceil(log2(p - 1)))
// Scratch:      2 * n
// Good for:     short vectors
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::exscan_recursive_doubling {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (r + 1 < p) b.send(r + 1, whole(buffer::input));
  if (r > 0) {
    b.scratch(buffer::scratch0, 1);
    b.recv(r - 1, whole(buffer::scratch0));
  }
  b.round();
  if (r == 0) return;
  place own = whole(buffer::scratch0);
  for (int d = 1; d < p - 1; d *= 2) {
    const bool sends = r + d < p, receives = r - d >= 1;
    if (!sends && !receives) break;
    const place next = whole(own.where == buffer::scratch0 ? buffer::scratch1 : buffer::scratch0);
    if (sends) b.send(r + d, own);
    if (receives) {
      b.recv_reduce_left({r - d}, own, next);
      b.scratch(next.where, 1);
    }
    b.round();
    if (receives) own = next;
  }
  b.copy(own, whole(buffer::output));
}

}  // namespace tutti::algorithms::exscan_recursive_doubling
