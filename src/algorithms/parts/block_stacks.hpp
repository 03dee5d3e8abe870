// SPDX-License-Identifier: Apache-2.0
//
// Two stacks of partial results of a reduce_scatter, for algorithms that walk a tree depth first.
// The blocks of a message are a step apart in the operand; their sums are adjacent on a stack. A
// block is identified by its offset: the distance from its rank up to this rank. Blocks of the
// vector form have no gaps, and words contain their lengths. Their messages are received into
// another buffer first, because recv_reduce does not support lengths that words measure.
#pragma once

#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti::parts {

/// Adjacent blocks on a stack; n = 0 means that there is none.
struct stretch {
  int stack = 0, from = 0, n = 0;
};

class block_stacks {
 public:
  /// `room`: the maximum number of blocks on a stack.
  block_stacks(const shape& s, builder& b, int room)
      : b_(b), how_(operand_table(s)), rank_(s.rank), ranks_(s.size), room_(room) {}

  /// The operand of offset o; in a loop, of o, o + step ...
  place operand(int o, int step = 0) const {
    return block(buffer::input, at((rank_ - o + ranks_) % ranks_, -step, step == 0 ? 0 : ranks_), how_);
  }
  /// n blocks from block i of a stretch on; in a loop, from blocks i, i + step ... on.
  place blocks_of(const stretch& s, int i, int n = 1, int step = 0) const {
    const index first = at(s.from + i, step);
    if (!of_words()) return blocks(memory(s.stack), first, n);
    return held(memory(s.stack), plus(first, s.stack * room_), n, s.stack * room_);
  }
  stretch push(int stack, int n) {
    const stretch s{stack, top_[stack], n};
    top_[stack] += n;
    most_[stack] = std::max(most_[stack], top_[stack]);
    return s;
  }
  void pop(const stretch& s) { top_[s.stack] = s.from; }

  /// Records that blocks i ... i + n - 1 of a stretch are as long as the operands of offsets o, o +
  /// step ...
  void measure(const stretch& s, int i, int n, int o, int step) {
    if (of_words()) each(n, [&] { b_.measure(operand(o, step), word(at(s.stack * room_ + s.from + i, 1))); });
  }
  /// Copies `from`, which depends on the loop counter, to blocks i ... i + n - 1.
  void copy(const stretch& s, int i, int n, place from) {
    each(n, [&] { b_.copy(from, blocks_of(s, i, 1, 1)); });
  }
  /// Sends `given` and combines what arrives with `own`. The result is in the first n blocks of
  /// `sum`.
  void exchange(int to, place given, int from, place own, const stretch& sum, int n) {
    const place target = blocks_of(sum, 0, n);
    b_.send(to, given);
    if (of_words()) {
      place came = target;
      came.where = buffer::scratch2;
      came.origin = came.first.base;
      max_come_ = std::max(max_come_, n);
      b_.recv(from, came);
      b_.reduce(own, came, target);
    } else {
      b_.recv_reduce_right({from}, own, target);
    }
    b_.round();
  }
  /// Declares the memory that was used. Must be called after the last step.
  void declare() {
    for (int i : {0, 1}) b_.scratch(memory(i), most_[i], how_);
    b_.scratch(buffer::scratch2, max_come_, how_);
    if (of_words() && most_[0] + most_[1] != 0) b_.words(2 * room_);
  }

 private:
  bool of_words() const { return how_ != table::uniform; }
  static buffer memory(int stack) { return stack == 0 ? buffer::scratch0 : buffer::scratch1; }
  template <class Body>
  void each(int n, Body&& body) {
    if (n == 1) return body();
    b_.loop(n, body);
  }

  builder& b_;
  table how_;
  int rank_, ranks_, room_;
  int top_[2] = {}, most_[2] = {}, max_come_ = 0;
};

}  // namespace tutti::parts
