// SPDX-License-Identifier: Apache-2.0
//
// bcast/scatter_recursive_doubling
//
// Ranks are folded to a power of two P of groups. The root's vector is cut into P blocks and
// scattered over the groups by a binomial tree. Then groups exchange what they have, in round i
// with the group 2^i away, until all have the whole vector. A group does not receive blocks that it
// already has from the scatter; so the root receives none. At the end each second rank of a group
// receives the vector from the first.
//
// Source:       Barnett, Shuler, van de Geijn, Gupta, Payne, Watts 1994; Thakur, Rabenseifner,
//                 Gropp 2005
// Rounds:       2 * log2(pof2) + (p == pof2 ? 0 : 1)
// Bytes:        2 * n * (pof2 - 1) / pof2 + (p == pof2 ? 0 : n)
// Scratch:      0
// Good for:     vectors of medium length, on a power of two of ranks
#include "algorithms/parts/scatter_split.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/fold.hpp"

namespace tutti::algorithms::bcast_scatter_recursive_doubling {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const int v = s.relative(), g = f.group_of(v);
  if (f.is_follower(v)) {
    b.recv(s.absolute(v - 1), whole(buffer::output));
    return;
  }
  const auto rank_at = [&](int group) { return s.absolute(f.leader_of(group)); };
  const buffer data = v == 0 ? buffer::input : buffer::output;
  b.split_into(f.groups);
  parts::scatter_split(b, g, f.groups, rank_at);
  for (int mask = 1; mask < f.groups; mask *= 2) {
    // Of the two groups, the one whose index is a multiple of 2 * mask already has the other's
    // blocks.
    const int partner = g ^ mask, own = g & -mask, partner_blocks = partner & -mask;
    if (partner % (2 * mask) != 0) b.send(rank_at(partner), blocks(data, own, mask, partition::split));
    if (g % (2 * mask) != 0)
      b.recv(rank_at(partner), blocks(buffer::output, partner_blocks, mask, partition::split));
    b.round();
  }
  if (f.in_pair(v)) b.send(s.absolute(v + 1), whole(data));
}

}  // namespace tutti::algorithms::bcast_scatter_recursive_doubling
