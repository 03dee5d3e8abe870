// SPDX-License-Identifier: Apache-2.0
//
// gather/across, gatherv/across
//
// Every rank of the other group sends its block directly to the root.
//
// Source:       MPI 4.0, 6.1.3 (what it computes); folklore
// Restrictions: inter
// Rounds:       <= p - 1
// Bytes:        b * (root < first ? second : first)
// Scratch:      0
// Good for:     large blocks, or few ranks
#include "algorithms/parts/across.hpp"

namespace tutti::algorithms::gather_across {

void write(const shape& s, builder& b) {
  const patterns::sides group = parts::sides_of(s);
  if (s.rank == s.root) {
    const partition how = result_partition(s);
    b.loop(group.remote_size(),
           [&] { b.recv(at(group.remote(0), 1), block(buffer::output, at(0, 1), how)); });
  } else if (!group.contains(s.root)) {
    b.send(s.root, whole(buffer::input));
  }
}

}  // namespace tutti::algorithms::gather_across
