// SPDX-License-Identifier: Apache-2.0
//
// gatherv/along
//
// Every rank sends its block to its neighbour towards the root, and then, one by one, the blocks
// that arrive from behind it. Only the root knows the lengths, so the length of each block travels
// one step ahead of it.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       <= p < 3 ? p - 1 : 2 * p - 3
// Bytes:        <= (b + word) * max(root, p - 1 - root)
// Scratch:      p < 3 ? 0 : 2 * b + 3 * word
// Good for:     groups whose members know only their neighbours
#include "algorithms/parts/passage.hpp"
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::gatherv_along {

void write(const shape& s, builder& b) {
  if (s.rank == s.root) return parts::collect_from_rows(s, b, table::out);
  const parts::standing here = parts::standing_of(s);
  b.words(3);
  parts::passage through(b, {.from = here.farther,
                             .to = here.nearer,
                             .even = buffer::scratch0,
                             .odd = buffer::scratch1,
                             .first_word = 0,
                             .comes = 1,
                             .goes = 1,
                             .first = 0,
                             .last = here.behind,
                             .told = here.nearer == s.root ? -1 : here.behind});
  through.own_is(whole(buffer::input));
  b.measure(whole(buffer::input), word(through.words_of(0)));
  parts::in_stages(b, 2, through.marks(), [&](int step, int) {
    through.transfer(step);
    through.make_room(step);
  });
}

}  // namespace tutti::algorithms::gatherv_along
