// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/hops, reduce_scatter_block/hops
//
// Each block is reduced along two binomial trees, one on each side of its owner, the shortest hops
// first and never around the ends. The owner combines what arrives from below, its operand and what
// arrives from above, so operands stay in rank order.
//
// In round d a rank has partial results of 2^d ranks, for the blocks of those ranks below that are
// multiples of 2^d away. It sends those of the odd multiples to the rank 2^d below. It combines
// what arrives from the rank 2^d above with the others. Before, it moves the odd ones together and
// the even ones together, so that a message is contiguous. The blocks of the ranks above are
// processed in the same way.
// Source:       Jeaugey 2025 (PAT) for trees that share messages; on both sides, in order: this
//                 project
// Reach:        hops
// Rounds:       p == 1 ? 0 : 2 * ceil_log(2, p) - 1
// Bytes:        <= p == 1 ? 0 : n + 2 * b * (ceil_log(2, p) - 1)
// Scratch:      <= p == 1 ? 0 : b * (3 * (p + 1) / 2 + 1)
// Good for:     short vectors, operators that do not commute, and groups whose members know only
//                 those 2^d away
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_hops {

namespace {

// The blocks of one side: slot u of n is the block of the rank u * distance away. Two buffers
// alternate.
class side {
 public:
  /// step -1: the blocks of the ranks below, which travel down; 1: those of the ranks above.
  side(const shape& s, builder& b, int step)
      : b_(b),
        how_(operand_partition(s)),
        step_(step),
        rank_(s.rank),
        size_(s.size),
        n_(step < 0 ? s.rank + 1 : s.size - s.rank),
        omits_local_(step > 0 && s.rank > 0) {}

  /// Reserves words from number `first` on and returns how many.
  int reserve_words(int first) {
    word_base_ = first;
    max_slots_ = n_;
    return 2 * max_slots_;
  }

  /// Moves even slots to the front of the other buffer and odd ones behind them.
  void separate_parities(int distance) {
    if (n_ == 1 && distance > 1) return;
    const int even = (n_ + 1) / 2, odd = n_ / 2;
    const side before = *this;
    turn_ = 1 - turn_;
    if (varying_lengths()) {
      measure(0, even, 0, 2 * distance);
      measure(even, odd, distance, 2 * distance);
    }
    if (distance == 1) reserve_memory(even);
    const bool moved = distance > 1;
    const auto slot = [&](int u) { return moved ? before.slots(at(u, 2), 1) : operand(u, 2 * distance); };
    // The own operand is combined on the other side.
    const int skipped = omits_local_ && !moved ? 1 : 0;
    b_.loop(even - skipped, [&] { b_.copy(slot(2 * skipped), slots(at(skipped, 1), 1)); });
    b_.loop(odd, [&] { b_.copy(slot(1), slots(at(even, 1), 1)); });
  }

  void exchange(int distance) {
    const int to = rank_ + step_ * distance, from = rank_ - step_ * distance;
    kept_ = (n_ + 1) / 2;
    if (n_ > 1) b_.send(to, slots(index{kept_}, n_ - kept_));
    receives_ = from >= 0 && from < size_;
    if (receives_) b_.recv(from, received(0, kept_));
  }

  void add(int distance) {
    n_ = kept_;
    if (!receives_) return;
    const int first = omits_local_ && distance == 1 ? 1 : 0, n = n_ - first;
    if (first == 1) b_.copy(received(0, 1), slots(index{0}, 1));
    if (n == 0) return;
    const place mine = slots(index{first}, n), theirs = received(first, n);
    b_.reduce(step_ < 0 ? mine : theirs, step_ < 0 ? theirs : mine, mine);
  }

  /// The block of this rank.
  place result() const { return slots(index{0}, 1); }

 private:
  bool varying_lengths() const { return how_ != partition::uniform; }
  buffer memory(int turn) const {
    if (step_ < 0) return turn == 0 ? buffer::scratch0 : buffer::scratch1;
    return turn == 0 ? buffer::scratch2 : buffer::scratch3;
  }
  int first_word() const { return word_base_ + turn_ * max_slots_; }
  place range(buffer where, index first, int n) const {
    if (!varying_lengths()) return blocks(where, first, n);
    return dense(where, plus(first, first_word()), n, first_word());
  }
  place slots(index first, int n) const { return range(memory(turn_), first, n); }
  /// Arriving data is stored in the previous buffer, in the order of the slots with which it is
  /// combined.
  place received(int first, int n) const { return range(memory(1 - turn_), index{first}, n); }
  /// The operands for the ranks at distances `hop`, hop + hop_step, ...
  place operand(int hop, int hop_step) const {
    return block(buffer::input, at(rank_ + step_ * hop, step_ * hop_step), how_);
  }
  void measure(int slot, int n, int hop, int hop_step) {
    b_.loop(n, [&] { b_.measure(operand(hop, hop_step), word(at(first_word() + slot, 1))); });
  }
  /// In the first round one buffer has all slots, which is its maximum, and the other one has the
  /// even slots.
  void reserve_memory(int even) {
    if (varying_lengths()) {
      b_.reserve(slots(index{0}, n_));
      b_.reserve(received(0, even));
    } else {
      b_.scratch(memory(turn_), n_);
      b_.scratch(memory(1 - turn_), even);
    }
  }

  builder& b_;
  partition how_;
  int step_, rank_, size_;
  int n_;
  bool omits_local_;
  int word_base_ = 0, max_slots_ = 0;
  int turn_ = 0, kept_ = 1;
  bool receives_ = false;
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size;
  if (p == 1) {
    if (!s.in_place) b.copy(block(buffer::input, 0, operand_partition(s)), whole(buffer::output));
    return;
  }
  side below(s, b, -1), above(s, b, 1);
  const int words = below.reserve_words(0);
  const int all = words + above.reserve_words(words);
  if (operand_partition(s) != partition::uniform) b.words(all);
  for (long long distance = 1; distance < p; distance *= 2) {
    const int d = static_cast<int>(distance);
    below.separate_parities(d);
    above.separate_parities(d);
    below.exchange(d);
    above.exchange(d);
    below.add(d);
    above.add(d);
    b.round();
  }
  // The blocks of `below` contain the operands from above, those of `above` the operands from
  // below.
  if (s.rank == 0)
    b.copy(below.result(), whole(buffer::output));
  else
    b.reduce(above.result(), below.result(), whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_scatter_hops
