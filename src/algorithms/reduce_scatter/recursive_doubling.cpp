// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/recursive_doubling, reduce_scatter_block/recursive_doubling
//
// Neighboring ranks are folded to a power of two of groups. In round i group g exchanges its
// partial result of the whole vector with group g xor 2^i; the lower group's is the left operand.
// In the last round a group receives only the blocks that its ranks own. The order of operands is
// kept.
//
// Source:       Thakur, Rabenseifner, Gropp 2005 (whole vectors)
// Rounds:       log2(pof2) + (p == pof2 ? 0 : 2)
// Bytes:        p == 1 ? 0 : p == pof2 ? n * (log2(p) - 1) + b :
//                 n * log2(pof2) + 2 * b
// Scratch:      p == 1 ? 0 : p == 2 ? n * in_place : p == 4 ? n : 2 * n
// Good for:     short vectors, and operators that do not commute
#include "schedule/algorithm.hpp"
#include "schedule/patterns/fold.hpp"

namespace tutti::algorithms::reduce_scatter_recursive_doubling {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const partition how = operand_partition(s);
  const int r = s.rank, g = f.group_of(r);
  const auto all = [&](buffer which) { return blocks(which, 0, s.size, how); };
  const auto blocks_of = [&](buffer which, int group) {
    return blocks(which, f.leader_of(group), f.leader_of(group + 1) - f.leader_of(group), how);
  };
  if (f.is_follower(r)) {
    b.send(r - 1, all(buffer::input));
    b.round();
    b.recv(r - 1, whole(buffer::output));
    return;
  }
  // Targets alternate, because the partner may still read what was sent.
  buffer now = buffer::input;
  const auto next = [&] {
    const buffer n = now == buffer::scratch0 ? buffer::scratch1 : buffer::scratch0;
    b.scratch(n, s.size, how);
    return n;
  };
  if (f.in_pair(r)) {
    const buffer sum = next();
    b.recv_reduce_right({r + 1}, all(now), all(sum));
    b.round();
    now = sum;
  }
  int mask = 1;
  for (; mask < f.groups / 2; mask *= 2) {
    const int partner = f.leader_of(g ^ mask);
    const buffer sum = next();
    b.send(partner, all(now));
    b.recv_reduce(partner, (g & mask) != 0, all(now), all(sum));
    b.round();
    now = sum;
  }
  // In place, the output overlaps with operands; if there is only one round, it sends some of them.
  // Rank 0 keeps those.
  const bool direct = !f.in_pair(r) && !(s.in_place && now == buffer::input && r != 0);
  if (f.groups > 1) {
    const int partner = f.leader_of(g ^ mask);
    const buffer sum = direct ? buffer::output : next();
    b.send(partner, blocks_of(now, g ^ mask));
    b.recv_reduce(partner, (g & mask) != 0, blocks_of(now, g),
                  direct ? whole(buffer::output) : blocks_of(sum, g));
    b.round();
    now = sum;
  }
  if (now == buffer::output || (s.size == 1 && s.in_place)) return;
  if (f.in_pair(r)) b.send(r + 1, block(now, r + 1, how));
  b.copy(block(now, r, how), whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_scatter_recursive_doubling
