// SPDX-License-Identifier: Apache-2.0
//
// Building blocks of calls between two groups: reductions and broadcasts along a k-nomial tree of
// one group, whose first member is the leader.
#pragma once

#include <algorithm>

#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial.hpp"
#include "schedule/patterns/sides.hpp"

namespace tutti::parts {

inline patterns::sides sides_of(const shape& s) { return {s.rank, s.size, s.first_group}; }

/// Combines the group's operands in rank order at its first member. Returns the place of the result
/// there: `operand` if the group has one member, otherwise `partial`. Inner members need `partial`
/// too.
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

/// Broadcasts `all` of the group's first member to `all` of every member.
inline void bcast_from_leader(const patterns::sides& group, int k, place all, builder& b) {
  const int v = group.local_rank(), n = group.local_size();
  if (v != 0) b.recv(group.local(patterns::knomial_parent(v, n, k)), all);
  b.round();
  patterns::for_each_knomial_child_down(v, n, k, [&](int child) {
    b.send(group.local(child), all);
    b.round();  // children of one round would share the bandwidth
  });
}

/// Calls body(first, step) for the members first, first + step, ... of the other group. In step i,
/// two ranks are partners if the sum of their member numbers is i, modulo the size n of the larger
/// group. So no rank has two partners in one step. A round ends after each window of steps. All
/// ranks process the steps in the same order, so that the ranks of the earliest step never wait for
/// one another.
template <class Body>
void for_each_pairing(const patterns::sides& group, builder& b, Body&& body) {
  const int others = group.remote_size(), n = std::max(group.local_size(), others);
  // The partner in step i is member i - rank, modulo n. Members that wrap around come first.
  const int wrapped = n - group.local_rank();
  const auto run = [&](int first, int last) {
    if (first < last)
      in_windows(b, last - first, default_window, [&](int i, int step) { body(first + i, step); });
    b.round();
  };
  run(wrapped, others);
  run(0, std::min(wrapped, others));
}

/// Returns whether a member combines other members' operands.
inline bool is_inner(const patterns::sides& group, int k) {
  return patterns::knomial_subtree(group.local_rank(), group.local_size(), k) > 1;
}

}  // namespace tutti::parts
