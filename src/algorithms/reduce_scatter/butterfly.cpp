// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/butterfly, reduce_scatter_block/butterfly
//
// Neighboring ranks are folded to a power of two of groups. In every round a rank halves its
// current range, the nearest partner first. So only adjacent runs of operands are combined, which
// keeps the order. At the end a group holds the part whose number is its own with reversed bits;
// one more exchange brings the parts to their owners.
//
// Source:       Traeff 2005
// Rounds:       log2(pof2) + (p == pof2 ? p > 2 : p == pof2 + 1 ? 2 : 3)
// Bytes:        <= p == pof2 ? n - (p < 3) * b : n + b * (pof2 - 1 +
//                 pow(2, ceil_log(2, p - pof2)) +
//                 (p - pof2) * (log2(pof2) - ceil_log(2, p - pof2)))
// Scratch:      p == 1 ? 0 : p * b * (p > 2 || in_place)
// Good for:     medium vectors, and operators that do not commute
#include "algorithms/parts/recursive_halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_butterfly {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const partition how = operand_partition(s);
  const int r = s.rank, g = f.group_of(r), mirror = parts::mirrored(g, f.groups);
  const int source = f.leader_of(mirror);  // holds the part of this rank's group
  if (s.size == 1) {
    if (!s.in_place) b.copy(block(buffer::input, 0, how), whole(buffer::output));
    return;
  }
  const auto operand = parts::blocks_of_groups(f, buffer::input, how);
  const auto partial = parts::blocks_of_groups(f, buffer::scratch0, how);
  // Whether the last exchange may write the output directly. In place, the output overlaps with the
  // first operand, which must not be in use any more.
  const bool direct = mirror == g && !f.in_pair(r) && (!s.in_place || r == 0 || f.groups > 2);
  if (!f.is_follower(r) && (!direct || f.groups > 2)) b.scratch(buffer::scratch0, s.size, how);
  parts::recursive_halving(b, f, r, parts::distances::doubling, operand, partial,
                           [&](int part) { return direct ? whole(buffer::output) : partial(part, 1); });
  if (f.is_follower(r)) {
    b.recv(source, whole(buffer::output));
    return;
  }
  const auto blocks_of = [&](int rank) { return block(buffer::scratch0, rank, how); };
  if (mirror != g) b.exchange(source, blocks_of(source), source, whole(buffer::output));
  if (f.in_pair(source)) b.send(source + 1, blocks_of(source + 1));
  if (mirror == g && !direct) b.copy(blocks_of(r), whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_scatter_butterfly
