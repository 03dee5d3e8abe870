// SPDX-License-Identifier: Apache-2.0
//
// gather/along
//
// Every rank sends its block to its neighbor towards the root, and then, one by one, the blocks
// that arrive from behind it. It forwards one block while it receives the next, so scratch memory
// holds two blocks.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p - 1
// Bytes:        b * (p - 1)
// Scratch:      p < 3 ? 0 : 2 * b
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::gather_along {

void write(const shape& s, builder& b) {
  if (s.rank == s.root) return parts::gather_from_rows(s, b, partition::uniform);
  const parts::row_position here = parts::row_position_of(s);
  b.scratch(buffer::scratch0, std::min(here.behind, 2));
  const auto scratch = [](int step, int by) { return block(buffer::scratch0, at(step, by, 2)); };
  parts::in_stages(b, 1, {0, 1, here.behind, here.behind + 1}, [&](int step, int by) {
    b.send(here.nearer, step == 0 ? whole(buffer::input) : scratch(step - 1, by));
    if (step < here.behind) b.recv(here.farther, scratch(step, by));
  });
}

}  // namespace tutti::algorithms::gather_along
