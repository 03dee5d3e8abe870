// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/recursive_doubling, reduce_scatter_block/recursive_doubling
//
// Ranks are folded to a power of two, neighbours together; then in round i group g exchanges its partial
// result of the whole vector with group g xor 2^i, the lower group being the left operand, and at the end
// every rank keeps its own block. Keeps the order of operands.
//
// Source:       Thakur, Rabenseifner, Gropp 2005 (whole vectors)
// Rounds:       floor(log2(p)) + (p == pof2 ? 0 : 2)
// Bytes:        n * floor(log2(p)) + (p == pof2 ? 0 : n)
// Scratch:      2 * n
// Good for:     short vectors, and operators that do not commute
#include "patterns/fold.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_recursive_doubling {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const table how = operand_table(s);
  const int g = f.group_of(s.rank);
  const auto all = [&](buffer which) { return blocks(which, 0, s.size, how); };
  const auto finish = [&](place result) {
    place own = block(result.where, s.rank, how);
    b.copy(own, whole(buffer::output));
  };
  if (f.follows(s.rank)) {
    b.send(s.rank - 1, all(buffer::input));
    b.round();
    b.recv(s.rank - 1, whole(buffer::output));
    return;
  }
  b.scratch(buffer::scratch0, s.size, how);
  b.scratch(buffer::scratch1, s.size, how);
  place own = all(buffer::input);
  const auto next = [&] { return all(own.where == buffer::scratch0 ? buffer::scratch1 : buffer::scratch0); };
  if (f.in_pair(s.rank)) {
    b.recv_reduce_right({s.rank + 1}, own, next());
    b.round();
    own = next();
  }
  for (int mask = 1; mask < f.groups; mask *= 2) {
    const int partner = f.leader_of(g ^ mask);
    b.send(partner, own);
    b.recv_reduce(partner, (g & mask) != 0, own, next());
    b.round();
    own = next();
  }
  finish(own);
  b.round();
  if (f.in_pair(s.rank)) b.send(s.rank + 1, block(own.where, s.rank + 1, how));
}

}  // namespace tutti::algorithms::reduce_scatter_recursive_doubling
