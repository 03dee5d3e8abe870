// SPDX-License-Identifier: Apache-2.0
//
// bcast/across
//
// A k-nomial tree that consists of the root and the ranks of the other group.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       <= (k - 1) * ceil_log(k, p)
// Bytes:        <= n * (k - 1) * ceil_log(k, p)
// Scratch:      0
// Good for:     short vectors
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::bcast_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  const int k = s.of(algorithm_parameter::k);
  const bool at_root = s.rank == s.root;
  if (!at_root && group.contains(s.root)) return;
  const int n = 1 + (at_root ? group.remote_size() : group.local_size()),
            v = at_root ? 0 : 1 + group.local_rank();
  const auto rank_at = [&](int position) {
    return position == 0 ? s.root : at_root ? group.remote(position - 1) : group.local(position - 1);
  };
  if (v != 0) b.recv(rank_at(patterns::knomial_parent(v, n, k)), whole(buffer::output));
  b.round();
  const place all = whole(v == 0 ? buffer::input : buffer::output);
  patterns::for_each_knomial_child_down(v, n, k, [&](int child) {
    b.send(rank_at(child), all);
    b.round();  // children of one round would share the bandwidth
  });
}

}  // namespace tutti::algorithms::bcast_across
