// SPDX-License-Identifier: Apache-2.0
//
// allgather/bine
//
// A butterfly whose hops alternate in direction and shrink. They are two thirds as long as powers
// of two: short messages travel far, long ones between neighbors. What a rank holds is contiguous
// if each rank begins with the block of its position in the order of halving. So every block is
// first sent to the rank that begins with it: one short message replaces a local reordering of all
// blocks. If the number of ranks is not a power of two, neighboring ranks are folded.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Rounds:       floor(log2(p)) + (p == pof2 ? p > 2 : 1 + min(p - pof2, 2))
// Bytes:        <= p == pof2 ? b * (p - (p < 3)) : n + b * (pof2 + min(pof2 - 1, (p - pof2) *
//                 log2(pof2)))
// Scratch:      0
// Good for:     large blocks if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "algorithms/parts/halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_bine {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const int group = f.group_of(s.rank), bits = std::countr_zero(static_cast<unsigned>(f.groups));
  const int position = patterns::bine::halving_position(group, bits);
  // The own block returns with the others, unless this rank begins with it.
  const int initial_owner = f.leader_of(patterns::bine::rank_at_halving_position(group, bits));
  const place own = s.in_place ? block(buffer::output, s.rank) : whole(buffer::input);
  if (initial_owner != s.rank)
    b.send(initial_owner, own);
  else if (!s.in_place)
    b.copy(own, block(buffer::output, s.rank));
  if (f.is_follower(s.rank)) {
    b.round();
    b.recv(s.rank - 1, blocks(buffer::output, 0, s.size));
    return;
  }
  for (int r = f.leader_of(position); r < f.leader_of(position + 1); ++r)
    if (r != s.rank) b.recv(r, block(buffer::output, r));
  b.round();
  parts::gather_by_halves(
      b, bits, position, [&](int j) { return f.leader_of(patterns::bine::partner(group, j, f.groups)); },
      [&](int first, int n) {
        const int rank = f.leader_of(first);
        return blocks(buffer::output, rank, f.leader_of(first + n) - rank);
      });
  if (f.in_pair(s.rank)) b.send(s.rank + 1, blocks(buffer::output, 0, s.size));
}

}  // namespace tutti::algorithms::allgather_bine
