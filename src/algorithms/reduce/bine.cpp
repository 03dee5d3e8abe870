// SPDX-License-Identifier: Apache-2.0
//
// reduce/bine
//
// A binomial tree in negabinary numbers, whose hops alternate in direction and double from the
// leaves up. So a partial result always covers consecutive ranks, and the next operand is adjacent
// above or below. If the number of ranks is not a power of two, neighboring ranks are folded. If
// the order of operands matters, the tree uses the only top for which no interval wraps around. The
// top then sends the result to the root.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Rounds:       <= ceil(log2(p)) + ordered
// Bytes:        <= n * (floor(log2(p)) + (p != pof2 && (ordered || root < 2 * (p - pof2))))
// Scratch:      <= n
// Good for:     short vectors if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_bine {

void write(const shape& s, builder& b) {
  patterns::bine::tree t(s.size, s.root);
  if (!s.commutative) t.top = patterns::bine::in_order_top(t.bits);
  const int top = t.rank_of(0);
  if (!t.represents(s.rank)) {
    b.send(t.other(s.rank), whole(buffer::input));
    return;
  }
  const int v = t.position_of(s.rank), send_round = t.send_round(v);
  const buffer result = s.rank == s.root && top == s.root ? buffer::output : buffer::scratch0;
  place own = whole(buffer::input);
  const auto combine = [&](int from, bool above) {
    if (result == buffer::scratch0) b.scratch(buffer::scratch0, 1);
    b.recv_reduce(from, !above, own, whole(result));
    b.round();
    own = whole(result);
  };
  if (t.folded.in_pair(s.rank)) combine(t.other(s.rank), t.other(s.rank) > s.rank);
  for (int k = 0; k < send_round; ++k) combine(t.rank_of_partner(v, k), patterns::bine::receives_above(v, k));
  if (v != 0)
    b.send(t.rank_of_partner(v, send_round), own);
  else if (s.rank != s.root)
    b.send(s.root, own);
  else if (s.size == 1 && !s.in_place)
    b.copy(own, whole(buffer::output));
  b.round();
  if (s.rank == s.root && top != s.root) b.recv(top, whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_bine
