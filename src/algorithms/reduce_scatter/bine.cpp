// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/bine, reduce_scatter_block/bine
//
// A butterfly whose hops alternate in direction and grow; they are two thirds as long as powers of
// two. In every round a rank sends half of its current range to a partner: first long messages to
// neighbors, then short ones far away. The halves are contiguous in rank order, so that in the end
// each rank holds the block of its position in the order of halving. One short message sends it to
// its owner. If the number of ranks is not a power of two, neighboring ranks are folded.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Restrictions: commutative
// Rounds:       floor(log2(p)) + (p == pof2 ? p > 2 : 1 + min(p - pof2, 2))
// Bytes:        <= p == pof2 ? n - (p < 3) * b : n + b * (pof2 - 1 +
//                 pow(2, ceil_log(2, p - pof2)) +
//                 (p - pof2) * (log2(pof2) - ceil_log(2, p - pof2)))
// Scratch:      p == 1 ? 0 : b * p
// Good for:     large blocks if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "algorithms/parts/halving.hpp"
#include "algorithms/parts/recursive_halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_bine {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const partition how = operand_partition(s);
  const patterns::fold f(s.size);
  const int group = f.group_of(s.rank), bits = std::countr_zero(static_cast<unsigned>(f.groups));
  const int position = patterns::bine::halving_position(group, bits);
  const int result_source = f.leader_of(patterns::bine::rank_at_halving_position(group, bits));
  const auto operand = parts::blocks_of_groups(f, buffer::input, how);
  const auto result = parts::blocks_of_groups(f, buffer::scratch0, how);
  if (f.is_follower(s.rank)) {
    b.send(s.rank - 1, operand(0, f.groups));
    b.round();
    b.recv(result_source, whole(buffer::output));
    return;
  }
  b.scratch(buffer::scratch0, s.size, how);
  if (f.in_pair(s.rank)) {
    b.recv_reduce_right({s.rank + 1}, operand(0, f.groups), result(0, f.groups));
    b.round();
  }
  parts::reduce_by_halves(
      b, bits, position, [&](int j) { return f.leader_of(patterns::bine::partner(group, j, f.groups)); },
      f.in_pair(s.rank) ? result : operand, result);
  for (int r = f.leader_of(position); r < f.leader_of(position + 1); ++r)
    if (r != s.rank) b.send(r, block(buffer::scratch0, r, how));
  if (result_source != s.rank)
    b.recv(result_source, whole(buffer::output));
  else
    b.copy(block(buffer::scratch0, s.rank, how), whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_scatter_bine
