// SPDX-License-Identifier: Apache-2.0
//
// allgather/neighbor_exchange
//
// Ranks 2i and 2i + 1 form a pair and exchange their blocks first. Then every rank exchanges two
// blocks with its neighbors on both sides alternately. To the neighbor in the next pair it sends
// the blocks that its partner sent last; to its partner those that this neighbor sent last. So
// pairs of blocks spread in both directions at once.
//
// Source:       Chen, Zhang, Zhang, Yuan 2005
// Restrictions: even_ranks
// Reach:        neighbors around
// Rounds:       p / 2
// Bytes:        b * (p - 1)
// Scratch:      0
// Good for:     large blocks; messages go to neighbors only, and there are half as many rounds as
//                 in a ring
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_neighbor_exchange {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, partner = r ^ 1;
  const int outward = r % 2 == 0 ? -1 : 1;  // towards the neighbor in the other pair
  const int neighbor = (r + outward + p) % p;
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r));
  b.exchange(partner, block(buffer::output, r), partner, block(buffer::output, partner));
  b.round();
  // The pair of blocks `distance` pairs away from the own one; `step` more in each iteration of the
  // loop.
  const auto pair = [&](int distance, int step) {
    return blocks(buffer::output, at(2 * (r / 2 + distance), 2 * step, p), 2);
  };
  // In iteration i the partner has sent the pair of blocks i pairs behind.
  const auto with_neighbor = [&](int i, int step) {
    b.exchange(neighbor, pair(-outward * i, -outward * step), neighbor,
               pair(outward * (i + 1), outward * step));
    b.round();
  };
  const int turns = (p / 2 - 1) / 2;
  b.loop(turns, [&] {
    with_neighbor(0, 1);
    b.exchange(partner, pair(outward, outward), partner, pair(-outward, -outward));
  });
  if (p / 2 % 2 == 0) with_neighbor(turns, 0);
}

}  // namespace tutti::algorithms::allgather_neighbor_exchange
