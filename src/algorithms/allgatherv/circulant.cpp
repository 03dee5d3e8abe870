// SPDX-License-Identifier: Apache-2.0
//
// allgatherv/circulant
//
// Broadcasts from all ranks at once, each pipelined over the same circulant graph. Every block is
// cut into `blocks` pieces, and the pieces of a round for one receiver form one message. A piece is
// the same fraction of any block. So unequal blocks cost no more than equal ones; in a ring they
// wait for the longest.
//
// Source:       Traeff 2024
// Parameters:   blocks = 8 in 1..65536: number of pieces of each block
// Rounds:       p == 1 ? 0 : blocks - 1 + ceil_log(2, p)
// Bytes:        n - b
// Scratch:      p == 1 ? 0 : 2 * n / blocks + 4 * p * word
// Good for:     blocks of very different lengths; large blocks with many pieces
#include "schedule/patterns/circulant.hpp"

#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgatherv_circulant {

namespace {

// The pieces of all blocks in one message, in the order of the blocks. Piece i begins after word(2
// * i) elements of the message and has word(2 * i + 1) elements; words count from `word_base`. So
// each piece is found without a sum over the others.
class message {
 public:
  message(builder& b, buffer packed, int word_base) : b_(b), packed_(packed), word_base_(word_base) {}

  void add(place piece) { pieces_.push_back(piece); }
  void measure() {
    if (pieces_.size() == 1) return;
    for_each([&](const place& one, int w) {
      b_.measure(one, word(w + 1));
      b_.measure(dense(packed_, w, 2, w), word(w + 2));
    });
  }
  void pack() {
    if (pieces_.size() == 1) return;
    for_each([&](const place& one, int w) { b_.copy(one, dense(packed_, w + 1, 1, w)); });
  }
  void unpack() {
    if (pieces_.size() == 1) return;
    for_each([&](const place& one, int w) { b_.copy(dense(packed_, w + 1, 1, w), one); });
  }
  place content() const {
    const int sum = word_base_ + 2 * static_cast<int>(pieces_.size());
    return pieces_.size() == 1 ? pieces_[0] : dense(packed_, sum, 1, sum);
  }

 private:
  template <class Body>
  void for_each(Body&& body) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      body(pieces_[i], word_base_ + 2 * static_cast<int>(i));
      if (i % 4096 == 4095) b_.round();  // a round has at most 65535 local steps
    }
  }

  builder& b_;
  buffer packed_;
  int word_base_;
  std::vector<place> pieces_;
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, n = s.of(algorithm_parameter::blocks);
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r, partition::output_counts));
  if (p == 1) return;
  const patterns::circulant graph(p);
  const int q = graph.phase(), phases = graph.phases(n), idle = graph.idle(n);
  // By the distance of a rank above the owner of the block.
  std::vector<std::vector<int>> blocks_to_receive;
  for (int v = 0; v < p; ++v) blocks_to_receive.push_back(graph.receives(v));

  b.words(4 * p);
  b.loop(p, [&] {
    b.measure(piece(block(buffer::output, at(0, 1), partition::output_counts), at(0), n), word(at(1, 1)));
  });
  b.reserve(dense(buffer::scratch0, 1, p, 1));
  b.reserve(dense(buffer::scratch1, 1, p, 1));

  const auto add_pieces = [&](message& m, int receiver, int k, int offset, int per_turn) {
    for (int j = 0; j < p; ++j) {
      if (j == receiver) continue;
      const auto distance = static_cast<std::size_t>((receiver - j + p) % p);
      const int number = blocks_to_receive[distance][static_cast<std::size_t>(k)] + offset;
      if (number >= 0)
        m.add(piece(block(buffer::output, j, partition::output_counts), at(std::min(number, n - 1), per_turn),
                    n));
    }
  };
  const auto phase = [&](int number, int per_turn) {
    for (int k = number == 0 ? idle : 0; k < q; ++k) {
      const int to = (r + graph.skip(k)) % p, from = (r - graph.skip(k) + p) % p;
      message sent(b, buffer::scratch0, 0), received(b, buffer::scratch1, 2 * p);
      add_pieces(sent, to, k, number * q - idle, per_turn);
      add_pieces(received, r, k, number * q - idle, per_turn);
      sent.measure();
      sent.pack();
      received.measure();
      b.round();
      b.exchange(to, sent.content(), from, received.content());
      received.unpack();
      b.round();
    }
  };
  // Phases are identical unless some piece would be before the first or beyond the last one.
  const int separate = idle == 0 ? 1 : 2, last = phases - 1;
  for (int i = 0; i < std::min(separate, last); ++i) phase(i, 0);
  if (last > separate) b.loop(last - separate, [&] { phase(separate, q); });
  phase(last, 0);
}

}  // namespace tutti::algorithms::allgatherv_circulant
