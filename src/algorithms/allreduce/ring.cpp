// SPDX-License-Identifier: Apache-2.0
//
// allreduce/ring
//
// The vector is cut into p blocks. Each block travels once around the ring to be reduced, and once
// more to be distributed. These are a reduce-scatter and an allgather of p - 1 neighbor exchanges
// each.
//
// Source:       Patarasuk, Yuan 2009
// Restrictions: commutative
// Reach:        neighbors around
// Rounds:       2 * (p - 1)
// Bytes:        2 * n * (p - 1) / p
// Scratch:      0
// Good for:     long vectors on few ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_ring {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const int p = s.size, r = s.rank, up = (r + 1) % p, down = (r + p - 1) % p;
  b.split_into(p);
  const auto part = [&](buffer which, int base) { return block(which, at(base, -1, p), partition::split); };
  // The block that is sent was completed one step ago, and the one that is written is its
  // neighbor, so they never conflict.
  b.send(up, block(buffer::input, r, partition::split));
  b.recv_reduce_left({down}, block(buffer::input, down, partition::split),
                     block(buffer::output, down, partition::split));
  b.loop(p - 2, [&] {
    b.send(up, part(buffer::output, r - 1));
    b.recv_reduce_left({down}, part(buffer::input, r - 2), part(buffer::output, r - 2));
  });
  b.loop(p - 1, [&] { b.exchange(up, part(buffer::output, r + 1), down, part(buffer::output, r)); });
}

}  // namespace tutti::algorithms::allreduce_ring
