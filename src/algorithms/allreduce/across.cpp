// SPDX-License-Identifier: Apache-2.0
//
// allreduce/across
//
// Each group reduces its operands to its first member along a k-nomial tree, in rank order. The two
// first members exchange their results and broadcast what they received along the same tree.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       <= 2 * (k - 1) * ceil_log(k, p) + 1
// Bytes:        <= n * (1 + (k - 1) * ceil_log(k, p))
// Scratch:      <= n
// Good for:     short vectors
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::allreduce_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const int k = s.of(algorithm_parameter::k);
  if (parts::is_inner(group, k)) b.scratch(buffer::scratch0, 1);
  const place all = parts::reduce_to_leader(group, k, whole(buffer::input), whole(buffer::scratch0), b);
  if (group.local_rank() == 0) b.exchange(group.remote(0), all, group.remote(0), whole(buffer::output));
  b.round();
  parts::bcast_from_leader(group, k, whole(buffer::output), b);
}

}  // namespace tutti::algorithms::allreduce_across
