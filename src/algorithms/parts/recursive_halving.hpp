// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter of one vector by halving: ranks are folded to a power of two of groups, neighbours together,
// and the vector has one part for each group. In every round a group gives one half of what it still has to a
// partner and adds the partner's share to the other half, until one part is left.
//
//   halving    the farthest partner first: group g ends with part g. The order of operands is lost.
//   doubling   the nearest partner first: group g ends with part mirrored(g), its operands in rank order.
#pragma once

#include "patterns/fold.hpp"
#include "schedule/builder.hpp"

namespace tutti::parts {

enum class distances { halving, doubling };

/// The part that group g ends with, of a power of two of groups, where distances double.
constexpr int mirrored(int g, int groups) {
  int m = 0;
  for (int bit = 1; bit < groups; bit *= 2) m = 2 * m + ((g & bit) != 0 ? 1 : 0);
  return m;
}

/// `from(first, n)` and `into(first, n)` are the places of parts first .. first + n - 1 in the operand, which
/// is only read, and of partial results; they may be the same memory. The last exchange writes its part to
/// `last(part)`. Returns the part that the rank ends with; a rank that follows has only given its operand
/// away.
template <class From, class Into, class Last>
int recursive_halving(builder& b, const patterns::fold& f, int rank, distances order, From from, Into into,
                      Last last) {
  if (f.follows(rank)) {
    b.send(rank - 1, from(0, f.groups));
    b.round();
    return 0;
  }
  const int group = f.group_of(rank);
  bool begun = false;
  const auto held = [&](int first, int n) -> place { return begun ? into(first, n) : from(first, n); };
  if (f.in_pair(rank)) {
    b.recv_reduce_right({rank + 1}, from(0, f.groups), into(0, f.groups));
    b.round();
    begun = true;
  }
  int low = 0;
  for (int n = f.groups / 2; n > 0; n /= 2) {
    const int distance = order == distances::halving ? n : f.groups / 2 / n;
    const bool upper = (group & distance) != 0;
    const int partner = f.leader_of(group ^ distance), given = upper ? low : low + n;
    if (upper) low += n;
    b.send(partner, held(given, n));
    b.recv_reduce(partner, upper, held(low, n), n == 1 ? last(low) : into(low, n));
    b.round();
    begun = true;
  }
  return low;
}

}  // namespace tutti::parts
