// SPDX-License-Identifier: Apache-2.0
//
// bcast/bine
//
// A binomial tree in negabinary numbers. Hops alternate in direction, the longest first, and are
// two thirds as long as those of a tree with one direction. If the number of ranks is not a power
// of two, neighboring ranks are folded. The second rank of a group receives last, after the first
// has served all its children. This takes no more rounds than a tree over all ranks.
//
// Source:       De Sensi and others 2025 (Bine trees)
// Rounds:       ceil(log2(p))
// Bytes:        n * (floor(log2(p)) + (root < 2 * (p - pof2)))
// Scratch:      0
// Good for:     short vectors if there are few links between distant ranks
#include "schedule/patterns/bine.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::bcast_bine {

void write(const shape& s, builder& b) {
  const patterns::bine::tree t(s.size, s.root);
  if (!t.represents(s.rank)) {
    b.recv(t.other(s.rank), whole(buffer::output));
    return;
  }
  const int v = t.position_of(s.rank), send_round = t.send_round(v);
  if (v != 0) b.recv(t.rank_of_partner(v, send_round), whole(buffer::output));
  b.round();
  const place data = whole(v == 0 ? buffer::input : buffer::output);
  for (int k = send_round - 1; k >= 0; --k) {
    b.send(t.rank_of_partner(v, k), data);
    b.round();  // children of one round would share the bandwidth
  }
  if (t.folded.in_pair(s.rank)) b.send(t.other(s.rank), data);
}

}  // namespace tutti::algorithms::bcast_bine
