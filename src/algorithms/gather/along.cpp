// SPDX-License-Identifier: Apache-2.0
//
// gather/along
//
// Every rank sends its block to the one beside it, towards the root, and then, one by one, those that come
// from behind it. While one block goes on the next one comes in, so two of them have room in scratch.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p - 1
// Bytes:        b * max(root, p - 1 - root)
// Scratch:      p < 3 ? 0 : 2 * b
// Good for:     ranks that know their neighbours only
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::gather_along {

void write(const shape& s, builder& b) {
  if (s.rank == s.root) return parts::collect_from_rows(s, b, table::uniform);
  const parts::standing here = parts::standing_of(s);
  b.scratch(buffer::scratch0, std::min(here.behind, 2));
  const auto aside = [](int step, int by) { return block(buffer::scratch0, at(step, by, 2)); };
  parts::in_stages(b, 1, {0, 1, here.behind, here.behind + 1}, [&](int step, int by) {
    b.send(here.nearer, step == 0 ? whole(buffer::input) : aside(step - 1, by));
    if (step < here.behind) b.recv(here.farther, aside(step, by));
  });
}

}  // namespace tutti::algorithms::gather_along
