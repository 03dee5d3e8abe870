// SPDX-License-Identifier: Apache-2.0
//
// gatherv/along
//
// Every rank sends its block to its neighbor towards the root, and then, one by one, the blocks
// that arrive from behind it. Only the root knows the lengths, so the length of each block travels
// one step ahead of it.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       <= p < 3 ? p - 1 : 2 * p - 3
// Bytes:        <= (b + word) * (p - 1)
// Scratch:      p < 3 ? 0 : 2 * b + 3 * word
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/block_relay.hpp"
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::gatherv_along {

void write(const shape& s, builder& b) {
  if (s.rank == s.root) return parts::gather_from_rows(s, b, partition::output_counts);
  const parts::row_position here = parts::row_position_of(s);
  b.words(3);
  parts::block_relay relay(b, {.from = here.farther,
                               .to = here.nearer,
                               .even = buffer::scratch0,
                               .odd = buffer::scratch1,
                               .first_word = 0,
                               .recv_blocks = 1,
                               .forwarded_blocks = 1,
                               .first_sent = 0,
                               .last_received = here.behind,
                               .last_sent_lengths = here.nearer == s.root ? -1 : here.behind});
  relay.set_message_0(whole(buffer::input));
  b.measure(whole(buffer::input), word(relay.first_word_of(0)));
  parts::in_stages(b, 2, relay.marks(), [&](int step, int) {
    relay.transfer(step);
    relay.end_step(step);
  });
}

}  // namespace tutti::algorithms::gatherv_along
