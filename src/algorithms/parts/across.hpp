// SPDX-License-Identifier: Apache-2.0
//
// What calls between two groups are made of: reductions and broadcasts along a k-nomial tree of one group,
// whose first member leads it.
#pragma once

#include "patterns/knomial.hpp"
#include "patterns/sides.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms {

inline patterns::sides sides_of(const shape& s) { return {s.rank, s.size, s.first_group}; }

/// The group's operands combined in the order of ranks, at its first member. Returns where it stands there:
/// in `operand` if it is alone, else in `partial`, of which inner members need as much.
inline place reduce_to_leader(const patterns::sides& group, int k, place operand, place partial, builder& b) {
  const int v = group.local_rank(), n = group.local_size();
  place own = operand;
  patterns::for_each_knomial_child(v, n, k, [&](int child) {
    b.recv_reduce_right({group.local(child)}, own, partial);
    b.round();
    own = partial;
  });
  if (v != 0) b.send(group.local(patterns::knomial_parent(v, n, k)), own);
  b.round();
  return own;
}

/// What the group's first member has in `all`, in `all` of every member.
inline void bcast_from_leader(const patterns::sides& group, int k, place all, builder& b) {
  const int v = group.local_rank(), n = group.local_size();
  if (v != 0) b.recv(group.local(patterns::knomial_parent(v, n, k)), all);
  b.round();
  patterns::for_each_knomial_child_down(v, n, k, [&](int child) { b.send(group.local(child), all); });
  b.round();
}

/// Calls body(i) for every member i of the other group, in an order in which nobody is met by two at once:
/// those meet whose numbers add up to the same, modulo the larger group's size.
template <class Body>
void for_each_meeting(const patterns::sides& group, Body&& body) {
  const int n = group.local_size() > group.remote_size() ? group.local_size() : group.remote_size();
  for (int i = 0; i < n; ++i) {
    const int peer = (i - group.local_rank() + n) % n;
    if (peer < group.remote_size()) body(peer);
  }
}

/// True where a member has to combine others' operands.
inline bool is_inner(const patterns::sides& group, int k) {
  return patterns::knomial_subtree(group.local_rank(), group.local_size(), k) > 1;
}

}  // namespace tutti::algorithms
