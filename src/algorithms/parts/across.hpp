// SPDX-License-Identifier: Apache-2.0
//
// What calls between two groups are made of: reductions and broadcasts along a k-nomial tree of one group,
// whose first member leads it.
#pragma once

#include <algorithm>

#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/knomial.hpp"
#include "schedule/patterns/sides.hpp"

namespace tutti::parts {

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

/// Calls body(first, step) for the members first, first + step, ... of the other group, in an order in which
/// nobody is met by two at once: those meet whose numbers add up to the same, modulo the larger group's size.
/// A round ends after each window of them; all ranks meet in the same order, so whoever is next waits for
/// nobody who waits.
template <class Body>
void for_each_pairing(const patterns::sides& group, builder& b, Body&& body) {
  const int others = group.remote_size(), n = std::max(group.local_size(), others);
  // Meeting i is with member i - rank, modulo n: those that wrap come first.
  const int wrapped = n - group.local_rank();
  const auto run = [&](int first, int last) {
    if (first < last)
      in_windows(b, last - first, default_window, [&](int i, int step) { body(first + i, step); });
    b.round();
  };
  run(wrapped, others);
  run(0, std::min(wrapped, others));
}

/// True where a member has to combine others' operands.
inline bool is_inner(const patterns::sides& group, int k) {
  return patterns::knomial_subtree(group.local_rank(), group.local_size(), k) > 1;
}

}  // namespace tutti::parts
