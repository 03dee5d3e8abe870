// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/along, alltoallw/along
//
// A rank sends all blocks for one side as one message without gaps to its neighbor there, those
// that travel farthest first. Each rank takes its own block, the last, out of a message and
// forwards the others, in both directions at once. The lengths of a message's blocks travel one
// step ahead of it.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       <= 3 * p
// Bytes:        <= (b + word) * (ceil(p * p / 2) - 1)
// Scratch:      p < 2 ? 0 : 2 * b * (p + 1) + 3 * word * (p + 1)
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/block_relay.hpp"
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::alltoallv_along {

namespace {

struct packer {
  const shape& s;
  builder& b;

  // In place, an operand has the layout of the result.
  place operand(index of) const {
    return s.in_place ? block(buffer::output, of, partition::output_counts)
                      : block(buffer::input, of, partition::input_counts);
  }
  static place result(index of) { return block(buffer::output, of, partition::output_counts); }

  // Packs message 0: `n` blocks from that of rank `first` on, in `direction`.
  void pack(const parts::block_relay& relay, int first, int direction, int n) const {
    const auto each = [&](auto&& body) {
      if (n == 1)
        body(index{first}, 0);
      else
        b.loop(n, [&] { body(at(first, direction), 1); });
    };
    const int length_word = relay.first_word_of(0);
    each([&](index of, int by) { b.measure(operand(of), word(at(length_word, by))); });
    b.reserve(relay.outgoing(0));
    each([&](index of, int by) { b.copy(operand(of), relay.block_of(0, 0, by)); });
  }
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, left = r, right = p - 1 - r;  // number of ranks on each side
  const packer w{s, b};
  if (!s.in_place) b.copy(w.operand({r}), w.result({r}));
  if (p == 1) return;
  parts::block_relay rightwards(b, {.from = r - 1,
                                    .to = r + 1,
                                    .even = buffer::scratch0,
                                    .odd = buffer::scratch1,
                                    .first_word = 0,
                                    .recv_blocks = right + 1,
                                    .forwarded_blocks = right,
                                    .first_sent = 0,
                                    .last_received = left,
                                    .last_sent_lengths = right > 1 ? left : -1});
  parts::block_relay leftwards(b, {.from = r + 1,
                                   .to = r - 1,
                                   .even = buffer::scratch2,
                                   .odd = buffer::scratch3,
                                   .first_word = 3 * (right + 1),
                                   .recv_blocks = left + 1,
                                   .forwarded_blocks = left,
                                   .first_sent = 0,
                                   .last_received = right,
                                   .last_sent_lengths = left > 1 ? right : -1});
  b.words(3 * (p + 1));
  if (right > 0) w.pack(rightwards, p - 1, -1, right);
  if (left > 0) w.pack(leftwards, 0, 1, left);
  b.round();
  std::vector<int> marks = rightwards.marks();
  for (const int mark : leftwards.marks()) marks.push_back(mark);
  parts::in_stages(b, 2, marks, [&](int step, int by) {
    // Message i from the left is that of rank r - i. The rank at an end forwards nothing, and it
    // receives a single block.
    const place of_left = w.result(at(r - step, -by)), of_right = w.result(at(r + step, by));
    if (right > 0) rightwards.transfer(step);
    if (left > 0) leftwards.transfer(step);
    if (right == 0 && rightwards.receives(step)) b.recv(r - 1, of_left);
    if (left == 0 && leftwards.receives(step)) b.recv(r + 1, of_right);
    if (right > 0 && rightwards.receives(step)) b.copy(rightwards.local_block(step), of_left);
    if (left > 0 && leftwards.receives(step)) b.copy(leftwards.local_block(step), of_right);
    if (right > 0) rightwards.end_step(step);
    if (left > 0) leftwards.end_step(step);
  });
}

}  // namespace tutti::algorithms::alltoallv_along
