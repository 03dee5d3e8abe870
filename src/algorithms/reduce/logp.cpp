// SPDX-License-Identifier: Apache-2.0
//
// reduce/logp
//
// The tree of bcast/logp in reverse: a rank combines the data of its children, the smallest subtree
// first, and sends the sum to its parent. The data of the larger subtrees arrive one after another
// meanwhile. The subtree of a rank is an interval that begins with it, so the tree rooted at rank 0
// combines in rank order. If the order matters and the root is another rank, rank 0 sends it the
// result.
//
// Source:       Karp, Sahay, Santos, Schauser 1993 (SPAA); the postal model of Bar-Noy, Kipnis 1992
// Parameters:   k = 6 in 1..64: number of messages that a rank can begin while one is on its way
// Rounds:       <= p == 1 ? 0 : min(p - 1, k * (ceil_log(2, p) - 1) + 1) + (ordered && root > 0)
// Bytes:        <= p == 1 ? 0 : n * min(p - 1, k * (ceil_log(2, p) - 1) + 1)
// Scratch:      <= n
// Good for:     short vectors on many ranks, if a message takes several times as long as its send
#include "schedule/algorithm.hpp"
#include "schedule/patterns/logp_tree.hpp"

namespace tutti::algorithms::reduce_logp {

void write(const shape& s, builder& b) {
  // Operands are combined in the order of positions, so positions are ranks unless the order does
  // not matter.
  const int p = s.size, r = s.rank, base = s.commutative ? s.root : 0, v = (r - base + p) % p;
  const bool forwarded = base != s.root, ends_here = v == 0 && !forwarded;
  const patterns::logp_tree tree(v, p, s.of(algorithm_parameter::k));
  const place result = whole(ends_here ? buffer::output : buffer::scratch0);
  if (!ends_here && !tree.children.empty()) b.scratch(buffer::scratch0, 1);
  place own = whole(buffer::input);
  for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
    b.recv_reduce_right({(*child + base) % p}, own, result);
    b.round();
    own = result;
  }
  if (v != 0)
    b.send((tree.parent + base) % p, own);
  else if (forwarded)
    b.send(s.root, own);
  else if (p == 1 && !s.in_place)
    b.copy(own, result);
  b.round();
  if (forwarded && r == s.root) b.recv(0, whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_logp
