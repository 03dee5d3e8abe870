// SPDX-License-Identifier: Apache-2.0
//
// bcast/scatter_recursive_doubling
//
// Ranks are folded to a power of two P of groups. The root's vector is cut into P blocks and scattered over
// the groups by a binomial tree; then groups exchange what they have, in round i with the group 2^i away,
// until all have everything. A group is spared blocks that the scatter left with it, so the root receives
// none. At the end each second rank of a group gets the vector from the first.
//
// Source:       Barnett, Shuler, van de Geijn, Gupta, Payne, Watts 1994; Thakur, Rabenseifner, Gropp 2005
// Rounds:       2 * log2(pof2) + (p == pof2 ? 0 : 1)
// Bytes:        2 * n * (pof2 - 1) / pof2 + (p == pof2 ? 0 : n)
// Scratch:      0
// Good for:     vectors of middle length, on a power of two of ranks
#include "algorithms/parts/scatter_split.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/fold.hpp"

namespace tutti::algorithms::bcast_scatter_recursive_doubling {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const int v = s.relative(), g = f.group_of(v);
  if (f.follows(v)) {
    b.recv(s.absolute(v - 1), whole(buffer::output));
    return;
  }
  const auto rank_at = [&](int group) { return s.absolute(f.leader_of(group)); };
  const buffer data = v == 0 ? buffer::input : buffer::output;
  b.split_into(f.groups);
  parts::scatter_split(b, g, f.groups, rank_at);
  for (int mask = 1; mask < f.groups; mask *= 2) {
    // The one of two groups whose number is a multiple of 2 * mask has had the other's blocks in its hands.
    const int partner = g ^ mask, own = g & -mask, its = partner & -mask;
    if (partner % (2 * mask) != 0) b.send(rank_at(partner), blocks(data, own, mask, table::split));
    if (g % (2 * mask) != 0) b.recv(rank_at(partner), blocks(buffer::output, its, mask, table::split));
    b.round();
  }
  if (f.in_pair(v)) b.send(s.absolute(v + 1), whole(data));
}

}  // namespace tutti::algorithms::bcast_scatter_recursive_doubling
