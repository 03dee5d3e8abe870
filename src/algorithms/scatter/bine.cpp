// SPDX-License-Identifier: Apache-2.0
//
// scatter/bine
//
// A binomial tree in negabinary numbers, whose hops alternate in direction and halve towards the
// leaves. So a rank always serves consecutive ranks, modulo p, and receives their blocks as one
// message. The root's blocks are in rank order, so the blocks of at most one child wrap around the
// end and travel in two messages. If the number of ranks is not a power of two, neighboring ranks
// are folded.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Rounds:       <= ceil(log2(p)) + 1
// Bytes:        b * (p - 1)
// Scratch:      <= b * min(pof2, p - pof2 / 2)
// Good for:     small blocks if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scatter_bine {

void write(const shape& s, builder& b) {
  const patterns::bine::tree t(s.size, s.root);
  const int p = s.size;
  const bool top = s.rank == s.root;
  if (!t.represents(s.rank)) {
    b.recv(t.other(s.rank), whole(buffer::output));
    return;
  }
  const int v = t.position_of(s.rank), send_round = t.send_round(v);
  const auto mine = t.ranks_of(v, send_round);
  // Blocks are in rank order: from rank 0 at the root, elsewhere from the first rank served.
  const int begin = top ? 0 : mine.first;
  const buffer data = top ? buffer::input : buffer::scratch0;
  const auto place_of = [&](int rank, int n) { return blocks(data, (rank - begin + p) % p, n); };
  if (!top) {
    const int parent = t.rank_of_partner(v, send_round);
    if (mine.count == 1) {
      b.recv(parent, whole(buffer::output));
      return;
    }
    b.scratch(buffer::scratch0, mine.count);
    const int before_wrap = parent == s.root ? std::min(mine.count, p - mine.first) : mine.count;
    b.recv(parent, blocks(data, 0, before_wrap));
    if (before_wrap < mine.count) b.recv(parent, blocks(data, before_wrap, mine.count - before_wrap));
    b.round();
  }
  for (int k = send_round - 1; k >= 0; --k) {
    const int child = t.rank_of_partner(v, k);
    const auto subtree = t.ranks_of(t.position_of(child), k);
    const int before_wrap = top ? std::min(subtree.count, p - subtree.first) : subtree.count;
    b.round();  // children of one round would share the bandwidth
    b.send(child, place_of(subtree.first, before_wrap));
    if (before_wrap < subtree.count) b.send(child, place_of(0, subtree.count - before_wrap));
  }
  b.round();
  if (t.folded.in_pair(s.rank)) b.send(t.other(s.rank), place_of(t.other(s.rank), 1));
  if (!top || !s.in_place) b.copy(place_of(s.rank, 1), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatter_bine
