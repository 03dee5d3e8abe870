// SPDX-License-Identifier: Apache-2.0
//
// bcast/scatter_ring
//
// The root's vector is cut into p blocks and scattered by a binomial tree. Then the blocks travel
// around the ring: each rank forwards the block that it received last. A rank does not receive
// blocks that it already has from the scatter, which would arrive at the end; so the root receives
// none.
//
// Source:       Barnett, Shuler, van de Geijn, Gupta, Payne, Watts 1994; Thakur, Rabenseifner,
//                 Gropp 2005
// Reach:        hops around
// Rounds:       ceil_log(2, p) + p - 1
// Bytes:        2 * n * (p - 1) / p
// Scratch:      0
// Good for:     long vectors
#include "algorithms/parts/scatter_split.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::bcast_scatter_ring {

void write(const shape& s, builder& b) {
  const int p = s.size, v = s.relative(), next = (v + 1) % p, up = s.absolute(next),
            down = s.absolute((v + p - 1) % p);
  b.split_into(p);
  parts::scatter_split(b, v, p, [&](int position) { return s.absolute(position); });
  const buffer data = v == 0 ? buffer::input : buffer::output;
  const int sends = p - parts::scattered_blocks(next, p), recvs = p - parts::scattered_blocks(v, p);
  const int both = std::min(sends, recvs);
  const auto send = [&](int from) { b.send(up, block(data, at(v - from, -1, p), partition::split)); };
  const auto recv = [&](int from) {
    b.recv(down, block(buffer::output, at(v - 1 - from, -1, p), partition::split));
  };
  b.loop(both, [&] {
    send(0);
    recv(0);
  });
  b.loop(sends - both, [&] { send(both); });
  b.loop(recvs - both, [&] { recv(both); });
}

}  // namespace tutti::algorithms::bcast_scatter_ring
