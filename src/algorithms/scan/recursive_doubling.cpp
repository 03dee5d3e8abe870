// SPDX-License-Identifier: Apache-2.0
//
// scan/recursive_doubling
//
// In round i a rank sends its partial result, which covers the 2^i ranks up to itself, to the rank 2^i above,
// and puts what comes from the rank 2^i below in front of its own. Two buffers take turns, since the receiver
// may still read what was sent.
//
// Source:       Hillis, Steele 1986
// Rounds:       ceil(log2(p))
// Bytes:        n * ceil(log2(p))
// Scratch:      2 * n
// Good for:     short vectors
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scan_recursive_doubling {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  place own = whole(buffer::input);
  bool first = true;
  for (int d = 1; d < p; d *= 2) {
    const bool sends = r + d < p, receives = r - d >= 0;
    if (!sends && !receives) break;
    const place next = whole(first || own.where == buffer::scratch1 ? buffer::scratch0 : buffer::scratch1);
    if (sends) b.send(r + d, own);
    if (receives) {
      b.recv_reduce_left({r - d}, own, next);
      b.scratch(next.where, 1);
    }
    b.round();
    if (receives) {
      own = next;
      first = false;
    }
  }
  if (own.where != buffer::input || !s.in_place) b.copy(own, whole(buffer::output));
}

}  // namespace tutti::algorithms::scan_recursive_doubling
