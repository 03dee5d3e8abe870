// SPDX-License-Identifier: Apache-2.0
//
// scatter/hops
//
// The ranks are cut into two halves. The root sends the blocks of the other half as one message to
// a rank there that is a power of two away. Then each of the two serves its half in the same way.
// Halves are consecutive ranks, so that the root sends directly from its input. No message wraps
// around the ends.
//
// Source:       folklore, recursive halving of the ranks; hops of powers of two for any root: this
//                 project
// Reach:        hops
// Rounds:       ceil_log(2, p)
// Bytes:        b * (p - 1)
// Scratch:      p < 3 ? 0 : b * ceil(p / 2)
// Good for:     small blocks, and groups whose members know only those 2^d away
#include "schedule/algorithm.hpp"
#include "schedule/patterns/hop_tree.hpp"

namespace tutti::algorithms::scatter_hops {

void write(const shape& s, builder& b) {
  const patterns::hop_tree tree(s.rank, s.root, s.size);
  const bool is_root = tree.parent < 0;
  if (!is_root && tree.children.empty()) {
    b.recv(tree.parent, whole(buffer::output));
    return;
  }
  const buffer all = is_root ? buffer::input : buffer::scratch0;
  const int first = tree.ranks.low, n = tree.ranks.size();
  if (!is_root) {
    b.scratch(buffer::scratch0, n);
    b.recv(tree.parent, blocks(all, 0, n));
  }
  for (const auto& child : tree.children) {
    b.round();  // children of one round would share the bandwidth
    b.send(child.rank, blocks(all, child.ranks.low - first, child.ranks.size()));
  }
  if (!is_root || !s.in_place) b.copy(block(all, s.rank - first), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatter_hops
