// SPDX-License-Identifier: Apache-2.0
//
// gather/hops
//
// The ranks are cut into two halves, each of which is gathered in the same way. The root gathers
// one half. A rank a power of two away gathers the other half and sends it to the root as one
// message. Halves are consecutive ranks, so that the root receives all blocks in their final
// positions. No message wraps around the ends.
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

namespace tutti::algorithms::gather_hops {

void write(const shape& s, builder& b) {
  const patterns::hop_tree tree(s.rank, s.root, s.size);
  const bool is_root = tree.parent < 0;
  if (!is_root && tree.children.empty()) {
    b.send(tree.parent, whole(buffer::input));
    return;
  }
  const buffer all = is_root ? buffer::output : buffer::scratch0;
  const int first = tree.ranks.low, n = tree.ranks.size();
  if (!is_root) b.scratch(buffer::scratch0, n);
  tree.for_each_child_up([&](const patterns::hop_tree::child& child) {
    b.recv(child.rank, blocks(all, child.ranks.low - first, child.ranks.size()));
  });
  if (!is_root || !s.in_place) b.copy(whole(buffer::input), block(all, s.rank - first));
  if (!is_root) b.send(tree.parent, blocks(all, 0, n));
}

}  // namespace tutti::algorithms::gather_hops
