// SPDX-License-Identifier: Apache-2.0
//
// reduce/hops
//
// The ranks are cut into two halves, each of which is reduced in the same way. One is reduced to
// the root, the other to a rank a power of two away. That rank then sends its result to the root.
// Halves are consecutive ranks, so that operands are combined in rank order for any root. No
// message wraps around the ends.
//
// Source:       folklore, recursive halving of the ranks; hops of powers of two for any root: this
//                 project
// Reach:        hops
// Rounds:       ceil_log(2, p)
// Bytes:        <= n * ceil_log(2, p)
// Scratch:      p > 2 ? n : 0
// Good for:     short vectors, operators that do not commute with any root, and groups whose
//                 members know only those 2^d away
#include "schedule/algorithm.hpp"
#include "schedule/patterns/hop_tree.hpp"

namespace tutti::algorithms::reduce_hops {

void write(const shape& s, builder& b) {
  const patterns::hop_tree tree(s.rank, s.root, s.size);
  const bool is_root = tree.parent < 0;
  if (!is_root && !tree.children.empty()) b.scratch(buffer::scratch0, 1);
  const place result = whole(is_root ? buffer::output : buffer::scratch0);
  place own = whole(buffer::input);
  tree.for_each_child_up([&](const patterns::hop_tree::child& child) {
    b.recv_reduce(child.rank, child.rank < s.rank, own, result);
    b.round();
    own = result;
  });
  if (!is_root)
    b.send(tree.parent, own);
  else if (s.size == 1 && !s.in_place)
    b.copy(own, result);
}

}  // namespace tutti::algorithms::reduce_hops
