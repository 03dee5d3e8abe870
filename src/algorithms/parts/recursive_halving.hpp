// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter of one vector by recursive halving. Neighboring ranks are folded to a power of
// two of groups, and the vector has one part for each group. In every round a group sends one half
// of its current range to a partner. It combines the partner's share with the other half, until one
// part is left.
//
//   halving    the farthest partner first: group g ends with part g. The operand order is lost.
//   doubling   the nearest partner first: group g ends with part mirrored(g), in rank order.
#pragma once

#include <bit>

#include "algorithms/parts/halving.hpp"
#include "schedule/builder.hpp"
#include "schedule/patterns/fold.hpp"

namespace tutti::parts {

enum class distances { halving, doubling };

/// The part that group g ends with if distances double: the bits of g in reverse order.
constexpr int mirrored(int g, int groups) {
  int m = 0;
  for (int bit = 1; bit < groups; bit *= 2) m = 2 * m + ((g & bit) != 0 ? 1 : 0);
  return m;
}

/// Parts that consist of the blocks of a group's ranks.
inline auto blocks_of_groups(const patterns::fold& f, buffer where, partition how) {
  return [=](int first, int n) {
    const int rank = f.leader_of(first);
    return blocks(where, rank, f.leader_of(first + n) - rank, how);
  };
}

/// `from(first, n)` and `into(first, n)` are the places of parts first .. first + n - 1 in the
/// operand, which is only read, and in the partial results. Both may be the same memory. The last
/// exchange writes its part to `last(part)`. Returns the part that the rank ends with. A rank that
/// follows another in a group only sends its operand, and the result is 0.
template <class From, class Into, class Last>
int recursive_halving(builder& b, const patterns::fold& f, int rank, distances order, From from, Into into,
                      Last last) {
  if (f.is_follower(rank)) {
    b.send(rank - 1, from(0, f.groups));
    b.round();
    return 0;
  }
  bool begun = false;
  const auto current = [&](int first, int n) -> place { return begun ? into(first, n) : from(first, n); };
  if (f.in_pair(rank)) {
    b.recv_reduce_right({rank + 1}, from(0, f.groups), into(0, f.groups));
    b.round();
    begun = true;
  }
  const int bits = std::countr_zero(static_cast<unsigned>(f.groups)), group = f.group_of(rank);
  const int part = order == distances::halving ? group : mirrored(group, f.groups);
  for (int j = 0; j < bits; ++j) {
    const halves h(bits, part, j);
    const int distance = order == distances::halving ? h.size : 1 << j;
    const int partner = f.leader_of(group ^ distance);
    b.send(partner, current(h.sent, h.size));
    b.recv_reduce(partner, partner < rank, current(h.kept, h.size),
                  h.size == 1 ? last(part) : into(h.kept, h.size));
    b.round();
    begun = true;
  }
  return part;
}

}  // namespace tutti::parts
