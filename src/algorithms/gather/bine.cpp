// SPDX-License-Identifier: Apache-2.0
//
// gather/bine
//
// A binomial tree in negabinary numbers, whose hops alternate in direction and double from the
// leaves up. So a rank always holds the blocks of consecutive ranks, modulo p, and sends them on as
// one message. The root stores blocks in rank order, so the blocks of at most one child wrap around
// the end and arrive in two messages. If the number of ranks is not a power of two, neighboring
// ranks are folded.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Rounds:       <= ceil(log2(p)) + 1
// Bytes:        b * (p - 1)
// Scratch:      <= b * min(pof2, p - pof2 / 2)
// Good for:     small blocks if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::gather_bine {

void write(const shape& s, builder& b) {
  const patterns::bine::tree t(s.size, s.root);
  const int p = s.size;
  const bool top = s.rank == s.root;
  if (!t.represents(s.rank)) {
    b.send(t.other(s.rank), whole(buffer::input));
    return;
  }
  const int v = t.position_of(s.rank), send_round = t.send_round(v);
  const auto mine = t.ranks_of(v, send_round);
  // Blocks are in rank order: from rank 0 at the root, elsewhere from the first rank of the
  // subtree.
  const int begin = top ? 0 : mine.first;
  const buffer data = top ? buffer::output : buffer::scratch0;
  const auto place_of = [&](int rank, int n) { return blocks(data, (rank - begin + p) % p, n); };
  place own = whole(buffer::input);
  if (mine.count > 1 || top) {
    if (!top) b.scratch(buffer::scratch0, mine.count);
    if (t.folded.in_pair(s.rank)) b.recv(t.other(s.rank), place_of(t.other(s.rank), 1));
    for (int k = 0; k < send_round; ++k) {
      const int child = t.rank_of_partner(v, k);
      const auto subtree = t.ranks_of(t.position_of(child), k);
      const int before_wrap = top ? std::min(subtree.count, p - subtree.first) : subtree.count;
      b.recv(child, place_of(subtree.first, before_wrap));
      if (before_wrap < subtree.count) b.recv(child, place_of(0, subtree.count - before_wrap));
    }
    if (!top || !s.in_place) b.copy(own, place_of(s.rank, 1));
    b.round();
    own = blocks(data, 0, mine.count);
  }
  if (top) return;
  const int parent = t.rank_of_partner(v, send_round);
  const int before_wrap = parent == s.root ? std::min(mine.count, p - mine.first) : mine.count;
  if (before_wrap < mine.count) {
    b.send(parent, blocks(data, 0, before_wrap));
    own = blocks(data, before_wrap, mine.count - before_wrap);
  }
  b.send(parent, own);
}

}  // namespace tutti::algorithms::gather_bine
