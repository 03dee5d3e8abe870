// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/across, reduce_scatter_block/across
//
// Each group reduces its operands to its first member along a k-nomial tree, in rank order. The two
// first members exchange their results and send each of their members its block of what they
// received.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       <= (k - 1) * ceil_log(k, p) + p
// Bytes:        <= n * (1 + (k - 1) * ceil_log(k, p))
// Scratch:      <= 2 * n
// Good for:     short vectors
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::reduce_scatter_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const int k = s.of(algorithm_parameter::k), v = group.local_rank(), n = group.local_size();
  const partition how = operand_partition(s);
  const auto all = [&](buffer which) { return blocks(which, 0, n, how); };
  if (parts::is_inner(group, k)) b.scratch(buffer::scratch0, n, how);
  const place mine = parts::reduce_to_leader(group, k, all(buffer::input), all(buffer::scratch0), b);
  if (v != 0) {
    b.recv(group.local(0), whole(buffer::output));
    return;
  }
  b.scratch(buffer::scratch1, n, how);
  b.exchange(group.remote(0), mine, group.remote(0), all(buffer::scratch1));
  b.copy(block(buffer::scratch1, 0, how), whole(buffer::output));
  b.round();
  if (n > 1) b.loop(n - 1, [&] { b.send(at(group.local(1), 1), block(buffer::scratch1, at(1, 1), how)); });
}

}  // namespace tutti::algorithms::reduce_scatter_across
