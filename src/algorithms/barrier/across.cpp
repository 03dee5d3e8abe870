// SPDX-License-Identifier: Apache-2.0
//
// barrier/across
//
// The members of a group report to its first member along a tree. The two first members notify each
// other, and then their members.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       <= 2 * (k - 1) * ceil_log(k, p) + 1
// Bytes:        0
// Scratch:      0
// Good for:     any two groups
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::barrier_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const int k = s.of(algorithm_parameter::k), v = group.local_rank(), n = group.local_size();
  const place nothing = blocks(buffer::input, 0, 0);
  patterns::for_each_knomial_child(v, n, k, [&](int child) { b.recv(group.local(child), nothing); });
  b.round();
  if (v != 0)
    b.send(group.local(patterns::knomial_parent(v, n, k)), nothing);
  else
    b.exchange(group.remote(0), nothing, group.remote(0), nothing);
  b.round();
  parts::bcast_from_leader(group, k, nothing, b);
}

}  // namespace tutti::algorithms::barrier_across
