// SPDX-License-Identifier: Apache-2.0
//
// scatter/across, scatterv/across
//
// The root sends every rank of the other group its block.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Rounds:       <= p - 1
// Bytes:        <= n
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::scatter_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  if (s.rank == s.root) {
    const partition how = s.what == collective::scatterv ? partition::input_counts : partition::uniform;
    b.loop(group.remote_size(), [&] { b.send(at(group.remote(0), 1), block(buffer::input, at(0, 1), how)); });
  } else if (!group.contains(s.root)) {
    b.recv(s.root, whole(buffer::output));
  }
}

}  // namespace tutti::algorithms::scatter_across
