// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/recursive_halving, reduce_scatter_block/recursive_halving
//
// Neighboring ranks are folded to a power of two of groups. In every round a rank halves its
// current range, the farthest partner first. It sends the half that contains its partner's block
// and combines what arrives with the other half. A rank that was folded in receives its block from
// its neighbor at the end.
//
// Source:       Thakur, Rabenseifner, Gropp 2005
// Restrictions: commutative
// Rounds:       log2(pof2) + (p == pof2 ? 0 : 2)
// Bytes:        p == pof2 ? n - b : n + b * (pof2 - 2 + pow(2, ceil_log(2, p - pof2)) +
//                 (p - pof2) * (log2(pof2) - ceil_log(2, p - pof2)))
// Scratch:      p == 1 ? 0 : p * b * (p > 2 || in_place)
// Good for:     short and medium vectors
#include "algorithms/parts/recursive_halving.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_recursive_halving {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const partition how = operand_partition(s);
  const int r = s.rank;
  const auto operand = parts::blocks_of_groups(f, buffer::input, how);
  const auto partial = parts::blocks_of_groups(f, buffer::scratch0, how);
  // Whether the last exchange may write the output directly. In place, the output overlaps with the
  // first operand, which must not be in use any more.
  const bool direct = !f.in_pair(r) && (!s.in_place || r == 0 || f.groups > 2);
  const place own = block(buffer::scratch0, r, how);
  if (!f.is_follower(r) && (!direct || f.groups > 2)) b.scratch(buffer::scratch0, s.size, how);
  parts::recursive_halving(b, f, r, parts::distances::halving, operand, partial,
                           [&](int part) { return direct ? whole(buffer::output) : partial(part, 1); });
  if (f.is_follower(r)) {
    b.recv(r - 1, whole(buffer::output));
  } else if (s.size == 1) {
    if (!s.in_place) b.copy(block(buffer::input, 0, how), whole(buffer::output));
  } else if (!direct) {
    if (f.in_pair(r)) b.send(r + 1, block(buffer::scratch0, r + 1, how));
    b.copy(own, whole(buffer::output));
  }
}

}  // namespace tutti::algorithms::reduce_scatter_recursive_halving
