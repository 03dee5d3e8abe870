// SPDX-License-Identifier: Apache-2.0
//
// scatterv/along
//
// The root sends the blocks of each side to its neighbor there, those that travel farthest first.
// Every rank forwards what arrives and keeps the last block. A rank knows only the length of its
// own block, so the lengths of forwarded blocks travel one step ahead of them.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       <= p < 3 ? p - 1 : 2 * p - 3
// Bytes:        <= (b + word) * (p - 1)
// Scratch:      p < 3 ? 0 : 2 * b + 3 * word
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/block_relay.hpp"
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::scatterv_along {

namespace {

// Message i of a side is the block of the i-th rank, counted from the end of the side.
void write_root(const shape& s, builder& b) {
  const std::vector<parts::row> rows = parts::rows_of(s);
  b.words(static_cast<int>(rows.size()));
  std::vector<int> marks{0, 1};
  for (const parts::row& one : rows) {
    marks.push_back(one.length - 1);
    marks.push_back(one.length);
    marks.push_back(one.length + 1);
  }
  const auto message = [](const parts::row& to, int i, int by) {
    return block(buffer::input, to.at_distance(to.length + 1 - i, -by), partition::input_counts);
  };
  parts::in_stages(b, 1, marks, [&](int step, int by) {
    const auto each = [&](auto&& body) {
      for (std::size_t i = 0; i < rows.size(); ++i) body(rows[i], word(static_cast<int>(i)));
    };
    each([&](const parts::row& to, place length) {
      if (step + 1 < to.length) b.measure(message(to, step + 1, by), length);
    });
    each([&](const parts::row& to, place length) {
      if (step + 1 < to.length) b.send(to.nearest(), length);
      if (step >= 1 && step <= to.length) b.send(to.nearest(), message(to, step, by));
    });
  });
  if (!s.in_place) b.copy(block(buffer::input, s.root, partition::input_counts), whole(buffer::output));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (s.rank == s.root) return write_root(s, b);
  const parts::row_position here = parts::row_position_of(s);
  const int last = here.behind;
  if (last > 0) b.words(3);
  parts::block_relay relay(b, {.from = here.nearer,
                               .to = here.farther,
                               .even = buffer::scratch0,
                               .odd = buffer::scratch1,
                               .first_word = 0,
                               .recv_blocks = 1,
                               .forwarded_blocks = 1,
                               .first_sent = 1,
                               .last_received = last,
                               .last_sent_lengths = last - 1});
  parts::in_stages(b, 2, relay.marks(), [&](int step, int) {
    relay.transfer(step);
    if (step == last + 1) b.recv(here.nearer, whole(buffer::output));
    relay.end_step(step);
  });
}

}  // namespace tutti::algorithms::scatterv_along
