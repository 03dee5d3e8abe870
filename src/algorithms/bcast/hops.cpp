// SPDX-License-Identifier: Apache-2.0
//
// bcast/hops
//
// The ranks are cut into two halves. The root sends the vector to a rank of the other half that is
// a power of two away. Then each of the two serves its half in the same way. No message wraps
// around the ends.
//
// Source:       folklore, recursive halving of the ranks; hops of powers of two for any root: this
//                 project
// Reach:        hops
// Rounds:       ceil_log(2, p)
// Bytes:        <= n * ceil_log(2, p)
// Scratch:      0
// Good for:     short vectors, and groups whose members know only those 2^d away
#include "schedule/algorithm.hpp"
#include "schedule/patterns/hop_tree.hpp"

namespace tutti::algorithms::bcast_hops {

void write(const shape& s, builder& b) {
  const patterns::hop_tree tree(s.rank, s.root, s.size);
  const bool is_root = tree.parent < 0;
  if (!is_root) b.recv(tree.parent, whole(buffer::output));
  b.round();
  for (const auto& child : tree.children) {
    b.send(child.rank, whole(is_root ? buffer::input : buffer::output));
    b.round();  // children of one round would share the bandwidth
  }
}

}  // namespace tutti::algorithms::bcast_hops
