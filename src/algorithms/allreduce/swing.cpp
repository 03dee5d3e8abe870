// SPDX-License-Identifier: Apache-2.0
//
// allreduce/swing
//
// Partners alternate between both sides at distances 1, 1, 3, 5, 11 ... In each round a rank sends
// the blocks that are nearer to its partner. It combines what it receives with the others, until it
// has one complete block. Then all ranks return the same way. If the number is odd, the last rank
// does not take part: it exchanges blocks with each of the others in the meantime. The order of
// blocks makes every message contiguous for a power of two. For other numbers some messages are
// packed in scratch memory, with the lengths of their source ranges.
//
// Source:       De Sensi and others 2024 (Swing); the odd rank: this project
// Restrictions: commutative
// Rounds:       <= 2 * floor(p / 2) == p ? 2 * ceil_log(2, p) : 2 * p + 2
// Bytes:        2 * n * (p - 1) / p
// Scratch:      p == pof2 ? 0 : n
// Good for:     rings and tori, vectors of medium length
#include "schedule/patterns/swing.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_swing {

namespace {

using patterns::swing;

place at_range(buffer which, swing::range r) { return blocks(which, r.first, r.count, partition::split); }

/// The messages of one direction, and the packed form of those with several ranges: one word for
/// each range holds its length.
class messages {
 public:
  messages(builder& b, const std::vector<swing::ranges>& all, int first_word)
      : b_(b), all_(all), end_(first_word) {
    for (const swing::ranges& one : all) {
      first_.push_back(end_);
      if (one.size() > 1) end_ += static_cast<int>(one.size());
    }
  }
  int end_of_words() const { return end_; }
  bool is_packed(int j) const { return of(j).size() > 1; }
  const swing::ranges& of(int j) const { return all_[static_cast<std::size_t>(j)]; }

  place in(buffer packed_buffer, int j, buffer vector) const {
    if (!is_packed(j)) return at_range(vector, of(j)[0]);
    const int first = first_[static_cast<std::size_t>(j)];
    return dense(packed_buffer, first, static_cast<int>(of(j).size()), first);
  }
  /// Calls body(range, packed range) for each range of a message that is packed.
  template <class Body>
  void for_each_packed(buffer packed_buffer, int j, buffer vector, Body&& body) const {
    if (!is_packed(j)) return;
    const int first = first_[static_cast<std::size_t>(j)];
    for (int i = 0; const swing::range& r : of(j))
      body(at_range(vector, r), dense(packed_buffer, first + i++, 1, first));
  }
  /// Must be called before the first use of message j. The scratch memory is large enough for
  /// either direction of the same exchange.
  void measure(int j, buffer vector) {
    if (!is_packed(j)) return;
    for (int i = first_[static_cast<std::size_t>(j)]; const swing::range& r : of(j))
      b_.measure(at_range(vector, r), word(i++));
    b_.round();  // a round has at most 65535 steps of a kind
    int n = 0;
    for (const swing::range& r : of(j)) n += r.count;
    max_blocks_ = std::max(max_blocks_, n);
  }
  int max_blocks() const { return max_blocks_; }

 private:
  builder& b_;
  const std::vector<swing::ranges>& all_;
  std::vector<int> first_;
  int end_, max_blocks_ = 0;
};

void write_butterfly(const shape& s, builder& b, const swing& pattern, bool odd) {
  const swing::traffic all = pattern.of(s.rank);
  const int rounds = pattern.rounds(), last = s.size - 1;
  messages sent(b, all.sent, 0), received(b, all.received, sent.end_of_words());
  b.words(received.end_of_words());
  const buffer out = buffer::scratch0, in = buffer::scratch1;
  // The last rank of an odd number exchanges with the others one after the other.
  const int last_rank_round = odd ? static_cast<int>(static_cast<std::int64_t>(s.rank) * rounds / last) : -1;
  const place own = block(buffer::output, all.own, partition::split);

  for (int j = 0; j < rounds; ++j) {
    const buffer vector = j == 0 ? buffer::input : buffer::output;
    const int partner = pattern.partner(s.rank, j);
    sent.measure(j, vector);
    received.measure(j, vector);
    sent.for_each_packed(out, j, vector, [&](place unpacked, place packed) { b.copy(unpacked, packed); });
    b.send(partner, sent.in(out, j, vector));
    if (received.is_packed(j))
      b.recv(partner, received.in(in, j, vector));
    else
      b.recv_reduce_right({partner}, received.in(in, j, vector), received.in(in, j, buffer::output));
    received.for_each_packed(in, j, vector, [&](place unpacked, place packed) {
      place sum = unpacked;
      sum.where = buffer::output;
      b.reduce(unpacked, packed, sum);
    });
    for (const swing::range& r : all.untouched)
      if (j == 0 && !s.in_place) b.copy(at_range(buffer::input, r), at_range(buffer::output, r));
    b.round();
    if (j != last_rank_round) continue;
    b.send(last, block(buffer::input, last, partition::split));
    b.recv_reduce_right({last}, own, own);
    b.round();
  }
  for (int j = rounds - 1; j >= 0; --j) {
    const int partner = pattern.partner(s.rank, j);
    const buffer vector = buffer::output;
    received.for_each_packed(out, j, vector, [&](place unpacked, place packed) { b.copy(unpacked, packed); });
    b.exchange(partner, received.in(out, j, vector), partner, sent.in(in, j, vector));
    if (rounds - 1 - j == last_rank_round) b.exchange(last, own, last, block(vector, last, partition::split));
    sent.for_each_packed(in, j, vector, [&](place unpacked, place packed) { b.copy(packed, unpacked); });
    b.round();
  }
  // The second half of the algorithm receives the blocks that the first half sends.
  const int n = std::max(sent.max_blocks(), received.max_blocks());
  if (n > 0) {
    b.scratch(out, n, partition::split);
    b.scratch(in, n, partition::split);
  }
}

/// The schedule of the last rank of an odd number. One after the other, each of the other ranks
/// sends it the operand of its block and receives that of its own. Then they exchange results the
/// same way.
void write_last(const shape& s, builder& b, const swing& pattern) {
  const int last = s.size - 1;
  const place operand = block(buffer::input, last, partition::split);
  const place own = block(buffer::output, last, partition::split);
  const auto reduce = [&](index rank, place theirs, place sum) {
    b.send(rank, theirs);
    b.recv_reduce_right(rank, sum, own);
    b.round();
  };
  const auto gather = [&](index rank, place theirs) {
    b.exchange(rank, own, rank, theirs);
    b.round();
  };
  if (pattern.is_regular()) {
    b.permute(swing::regular_block_of, last);
    const auto theirs = [](buffer which, index rank) { return permuted(which, rank, partition::split); };
    reduce({0}, theirs(buffer::input, {0}), operand);
    b.loop(last - 1, [&] { reduce(at(1, 1), theirs(buffer::input, at(1, 1)), own); });
    b.loop(last, [&] { gather(at(0, 1), theirs(buffer::output, at(0, 1))); });
    return;
  }
  std::vector<int> block_of(static_cast<std::size_t>(last));
  for (int i = 0; const int owner : pattern.owners()) block_of[static_cast<std::size_t>(owner)] = i++;
  const auto theirs = [&](buffer which, int rank) {
    return block(which, block_of[static_cast<std::size_t>(rank)], partition::split);
  };
  for (int r = 0; r < last; ++r) reduce({r}, theirs(buffer::input, r), r == 0 ? operand : own);
  for (int r = 0; r < last; ++r) gather({r}, theirs(buffer::output, r));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const bool odd = s.size % 2 != 0;
  const swing pattern(odd ? s.size - 1 : s.size);
  b.split_into(s.size);
  if (odd && s.rank == s.size - 1)
    write_last(s, b, pattern);
  else
    write_butterfly(s, b, pattern, odd);
}

}  // namespace tutti::algorithms::allreduce_swing
