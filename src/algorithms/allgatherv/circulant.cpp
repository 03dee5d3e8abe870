// SPDX-License-Identifier: Apache-2.0
//
// allgatherv/circulant
//
// Broadcasts from all ranks at once, each pipelined over the same circulant graph: every block is cut into q
// pieces, and a round's pieces of all blocks travel to one rank as one message. Since a piece is a q-th of
// whatever its block is, unequal blocks cost no more than equal ones, which in a ring wait for the longest.
//
// Source:       Traeff 2024
// Parameters:   blocks = 8 in 1..65536: pieces that each block is cut into
// Rounds:       p == 1 ? 0 : blocks - 1 + ceil_log(2, p)
// Bytes:        n - b
// Scratch:      p == 1 ? 0 : 2 * n / blocks + 4 * p * word
// Good for:     blocks of very different lengths, large ones in many pieces
#include "schedule/patterns/circulant.hpp"

#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgatherv_circulant {

namespace {

// A round's pieces of all blocks for one receiver, by number of the block. Piece i stands in the message
// after word(2 * i) elements and has word(2 * i + 1), counted from `words_at`; so each is found without
// adding up.
class message {
 public:
  message(builder& b, buffer through, int words_at) : b_(b), through_(through), words_at_(words_at) {}

  void add(place piece) { pieces_.push_back(piece); }
  void measure() {
    if (pieces_.size() == 1) return;
    for_each([&](const place& one, int w) {
      b_.measure(one, word(w + 1));
      b_.measure(held(through_, w, 2, w), word(w + 2));
    });
  }
  void pack() {
    if (pieces_.size() == 1) return;
    for_each([&](const place& one, int w) { b_.copy(one, held(through_, w + 1, 1, w)); });
  }
  void unpack() {
    if (pieces_.size() == 1) return;
    for_each([&](const place& one, int w) { b_.copy(held(through_, w + 1, 1, w), one); });
  }
  place whole() const {
    const int sum = words_at_ + 2 * static_cast<int>(pieces_.size());
    return pieces_.size() == 1 ? pieces_[0] : held(through_, sum, 1, sum);
  }

 private:
  template <class Body>
  void for_each(Body&& body) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      body(pieces_[i], words_at_ + 2 * static_cast<int>(i));
      if (i % 4096 == 4095) b_.round();  // a round has room for 65535 local steps
    }
  }

  builder& b_;
  buffer through_;
  int words_at_;
  std::vector<place> pieces_;
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, n = s.of(algorithm_parameter::blocks);
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r, table::out));
  if (p == 1) return;
  const patterns::circulant graph(p);
  const int q = graph.phase(), phases = graph.phases(n), idle = graph.idle(n);
  std::vector<std::vector<int>> wanted;  // by how far a rank is above the block's
  for (int v = 0; v < p; ++v) wanted.push_back(graph.receives(v));

  b.words(4 * p);
  b.loop(p, [&] { b.measure(piece(block(buffer::output, at(0, 1), table::out), at(0), n), word(at(1, 1))); });
  b.reserve(held(buffer::scratch0, 1, p, 1));
  b.reserve(held(buffer::scratch1, 1, p, 1));

  const auto pieces_for = [&](message& m, int receiver, int k, int offset, int per_turn) {
    for (int j = 0; j < p; ++j) {
      if (j == receiver) continue;
      const auto distance = static_cast<std::size_t>((receiver - j + p) % p);
      const int number = wanted[distance][static_cast<std::size_t>(k)] + offset;
      if (number >= 0)
        m.add(piece(block(buffer::output, j, table::out), at(std::min(number, n - 1), per_turn), n));
    }
  };
  const auto phase = [&](int number, int per_turn) {
    for (int k = number == 0 ? idle : 0; k < q; ++k) {
      const int to = (r + graph.skip(k)) % p, from = (r - graph.skip(k) + p) % p;
      message given(b, buffer::scratch0, 0), got(b, buffer::scratch1, 2 * p);
      pieces_for(given, to, k, number * q - idle, per_turn);
      pieces_for(got, r, k, number * q - idle, per_turn);
      given.measure();
      given.pack();
      got.measure();
      b.round();
      b.exchange(to, given.whole(), from, got.whole());
      got.unpack();
      b.round();
    }
  };
  // Where nothing is before the first piece or beyond the last one, phases are alike.
  const int alike = idle == 0 ? 1 : 2, last = phases - 1;
  for (int i = 0; i < std::min(alike, last); ++i) phase(i, 0);
  if (last > alike) b.loop(last - alike, [&] { phase(alike, q); });
  phase(last, 0);
}

}  // namespace tutti::algorithms::allgatherv_circulant
