// SPDX-License-Identifier: Apache-2.0
//
// bcast/circulant
//
// The vector is cut into blocks that travel over a circulant graph. In every round each rank sends
// one block and receives one that it does not have. The round determines the distance of the peers,
// and the rank's schedule determines the blocks. No algorithm distributes that many blocks to that
// many ranks in fewer rounds, for any number of ranks.
//
// Source:       Traeff 2024 (round-optimal n-block broadcast schedules)
// Parameters:   blocks = 16 in 1..65536: number of blocks into which the vector is cut
// Rounds:       p == 1 ? 0 : blocks - 1 + ceil_log(2, p)
// Bytes:        p == 1 ? 0 : n * (blocks - 1 + ceil_log(2, p)) / blocks
// Scratch:      0
// Good for:     long vectors on any number of ranks
#include "algorithms/parts/circulant_phases.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::bcast_circulant {

void write(const shape& s, builder& b) {
  const patterns::circulant c(s.size);
  const int v = s.relative(), n = s.of(algorithm_parameter::blocks);
  const auto sends = c.sends(v), receives = c.receives(v);
  const place vector = whole(v == 0 ? buffer::input : buffer::output);
  parts::circulant_phases(b, c, n, parts::tree_direction::from_root, [&](int k, bool, auto at_block) {
    const auto i = static_cast<std::size_t>(k);
    const int to = (v + c.skip(k)) % s.size, from = (v - c.skip(k) + s.size) % s.size;
    if (to != 0) b.send(s.absolute(to), piece(vector, at_block(sends[i]), n));
    if (v != 0) b.recv(s.absolute(from), piece(vector, at_block(receives[i]), n));
  });
}

}  // namespace tutti::algorithms::bcast_circulant
