// SPDX-License-Identifier: Apache-2.0
//
// reduce/across
//
// The other group reduces its operands along a k-nomial tree, in rank order, and its first member
// sends the result to the root.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       <= (k - 1) * ceil_log(k, p) + 1
// Bytes:        <= n * (k - 1) * ceil_log(k, p)
// Scratch:      <= n
// Good for:     short vectors
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::reduce_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const int k = s.of(algorithm_parameter::k);
  if (group.contains(s.root)) {
    if (s.rank == s.root) b.recv(group.remote(0), whole(buffer::output));
    return;
  }
  if (parts::is_inner(group, k)) b.scratch(buffer::scratch0, 1);
  const place all = parts::reduce_to_leader(group, k, whole(buffer::input), whole(buffer::scratch0), b);
  if (group.local_rank() == 0) b.send(s.root, all);
}

}  // namespace tutti::algorithms::reduce_across
