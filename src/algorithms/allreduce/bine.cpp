// SPDX-License-Identifier: Apache-2.0
//
// allreduce/bine
//
// A butterfly whose hops alternate in direction, 1, -1, 3, -5, 11 ..., two thirds as long as powers
// of two. Ranks halve the vector with partners at growing distances until each has one complete
// piece. Then they return the same way and double the complete part, so that little data travels
// far. The order of halving determines the owner of each piece, so that all messages are contiguous
// and nothing is moved locally. If the number of ranks is not a power of two, neighboring ranks
// are folded.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Restrictions: commutative
// Rounds:       2 * floor(log2(p)) + (p == pof2 ? 0 : 2)
// Bytes:        2 * n * (pof2 - 1) / pof2 + (p == pof2 ? 0 : n)
// Scratch:      0
// Good for:     long vectors if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "algorithms/parts/halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_bine {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  if (f.is_follower(s.rank)) {
    b.send(s.rank - 1, whole(buffer::input));
    b.round();
    b.recv(s.rank - 1, whole(buffer::output));
    return;
  }
  const int group = f.group_of(s.rank), bits = std::countr_zero(static_cast<unsigned>(f.groups));
  const int position = patterns::bine::halving_position(group, bits);
  b.split_into(f.groups);
  const auto partner = [&](int j) { return f.leader_of(patterns::bine::partner(group, j, f.groups)); };
  const auto pieces_of = [](buffer where) {
    return [where](int first, int n) { return blocks(where, first, n, partition::split); };
  };
  buffer operand = buffer::input;
  if (f.in_pair(s.rank)) {
    b.recv_reduce_right({s.rank + 1}, whole(operand), whole(buffer::output));
    b.round();
    operand = buffer::output;
  } else if (s.size == 1 && !s.in_place) {
    b.copy(whole(operand), whole(buffer::output));
  }
  parts::reduce_by_halves(b, bits, position, partner, pieces_of(operand), pieces_of(buffer::output));
  parts::gather_by_halves(b, bits, position, partner, pieces_of(buffer::output));
  if (f.in_pair(s.rank)) b.send(s.rank + 1, whole(buffer::output));
}

}  // namespace tutti::algorithms::allreduce_bine
