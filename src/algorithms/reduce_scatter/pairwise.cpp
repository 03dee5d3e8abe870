// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/pairwise, reduce_scatter_block/pairwise
//
// In step i a rank sends the block of the rank i above it straight there and adds what comes from the rank i
// below to its own block.
//
// Source:       Thakur, Rabenseifner, Gropp 2005
// Restrictions: commutative
// Rounds:       p - 1
// Bytes:        n * (p - 1) / p
// Scratch:      b
// Good for:     large blocks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_pairwise {

void write(const shape& s, builder& b) {
  const table how = operand_table(s);
  const int p = s.size, r = s.rank;
  place held = block(buffer::scratch0, r, how);
  held.packed = true;  // as long as the own block, at the beginning of the scratch
  b.scratch(buffer::scratch0, 1, how);
  b.copy(block(buffer::input, r, how), held);
  b.round();
  b.loop(p - 1, [&] {
    b.send(at(r + 1, 1, p), block(buffer::input, at(r + 1, 1, p), how));
    b.recv_reduce_left(at(r - 1, -1, p), held, held);
  });
  b.round();
  b.copy(held, whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_scatter_pairwise
