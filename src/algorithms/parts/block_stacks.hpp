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
struct stack_range {
  int stack = 0, from = 0, n = 0;
};

class block_stacks {
 public:
  /// `capacity`: the maximum number of blocks on a stack.
  block_stacks(const shape& s, builder& b, int capacity)
      : b_(b), how_(operand_partition(s)), rank_(s.rank), ranks_(s.size), capacity_(capacity) {}

  /// The operand of offset o; in a loop, of o, o + step ...
  place operand(int o, int step = 0) const {
    return block(buffer::input, at((rank_ - o + ranks_) % ranks_, -step, step == 0 ? 0 : ranks_), how_);
  }
  /// n blocks from block i of a range on; in a loop, from blocks i, i + step ... on.
  place blocks_of(const stack_range& s, int i, int n = 1, int step = 0) const {
    const index first = at(s.from + i, step);
    if (!varying_lengths()) return blocks(memory(s.stack), first, n);
    return dense(memory(s.stack), plus(first, s.stack * capacity_), n, s.stack * capacity_);
  }
  stack_range push(int stack, int n) {
    const stack_range s{stack, top_[stack], n};
    top_[stack] += n;
    max_top_[stack] = std::max(max_top_[stack], top_[stack]);
    return s;
  }
  void pop(const stack_range& s) { top_[s.stack] = s.from; }

  /// Records that blocks i ... i + n - 1 of a range are as long as the operands of offsets o, o +
  /// step ...
  void measure(const stack_range& s, int i, int n, int o, int step) {
    if (!varying_lengths()) return;
    const int first_word = s.stack * capacity_ + s.from + i;
    repeat(n, [&] { b_.measure(operand(o, step), word(at(first_word, 1))); });
  }
  /// Copies `from`, which depends on the loop counter, to blocks i ... i + n - 1.
  void copy(const stack_range& s, int i, int n, place from) {
    repeat(n, [&] { b_.copy(from, blocks_of(s, i, 1, 1)); });
  }
  /// Sends `sent` and combines what arrives with `own`. The result is in the first n blocks of
  /// `sum`.
  void exchange(int to, place sent, int from, place own, const stack_range& sum, int n) {
    const place target = blocks_of(sum, 0, n);
    b_.send(to, sent);
    if (varying_lengths()) {
      place received = target;
      received.where = buffer::scratch2;
      received.origin = received.first.base;
      max_received_ = std::max(max_received_, n);
      b_.recv(from, received);
      b_.reduce(own, received, target);
    } else {
      b_.recv_reduce_right({from}, own, target);
    }
    b_.round();
  }
  /// Declares the memory that was used. Must be called after the last step.
  void declare() {
    for (int i : {0, 1}) b_.scratch(memory(i), max_top_[i], how_);
    b_.scratch(buffer::scratch2, max_received_, how_);
    if (varying_lengths() && max_top_[0] + max_top_[1] != 0) b_.words(2 * capacity_);
  }

 private:
  bool varying_lengths() const { return how_ != partition::uniform; }
  static buffer memory(int stack) { return stack == 0 ? buffer::scratch0 : buffer::scratch1; }
  template <class Body>
  void repeat(int n, Body&& body) {
    if (n == 1) return body();
    b_.loop(n, body);
  }

  builder& b_;
  partition how_;
  int rank_, ranks_, capacity_;
  int top_[2] = {}, max_top_[2] = {}, max_received_ = 0;
};

}  // namespace tutti::parts
