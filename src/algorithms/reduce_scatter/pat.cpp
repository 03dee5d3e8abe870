// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/pat, reduce_scatter_block/pat
//
// Each block is added up along a binomial tree of its own, shifted by the rank that wants it, the nearest
// hops first. Trees of blocks that lie equally far apart share messages. The trees are walked depth first, so
// that only partial results on the way to the root are held, not as many as there are ranks. They stand on
// two stacks: while a node hands its sum to a parent that has none yet, the parent's begins on the other one.
//
// Source:       Jeaugey 2025 (PAT)
// Restrictions: commutative
// Parameters:   aggregate = 16 in 1..65536: blocks of one message, rounded down to a power of two
// Rounds:       min(p, pow(2, max(0, ceil_log(2, p) - floor_log(2, aggregate)))) - 1 +
//                 min(ceil_log(2, p), floor_log(2, aggregate))
// Bytes:        n * (p - 1) / p
// Scratch:      <= p == 1 ? 0 : b * pow(2, min(ceil_log(2, p), floor_log(2, aggregate))) *
//                 (2 + max(0, ceil_log(2, p) - floor_log(2, aggregate)))
// Good for:     many ranks and short or medium blocks, where scratch is dear
#include "patterns/pat.hpp"

#include <algorithm>
#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_pat {

namespace {

// Blocks beside one another on a stack; none: not there.
struct stretch {
  int stack = 0, from = 0, n = 0;
};

// The blocks of a vector form stand densely, and words say how long they are.
class stacks {
 public:
  stacks(const shape& s, builder& b, const patterns::pat& trees)
      : b_(b),
        how_(operand_table(s)),
        rank_(s.rank),
        ranks_(s.size),
        room_(trees.together * (trees.height() / 2 + 2)) {}

  /// The operand of offset o, or of o, o + step ... in a loop.
  place operand(int o, int step = 0) const {
    return block(buffer::input, at((rank_ - o + ranks_) % ranks_, -step, step == 0 ? 0 : ranks_), how_);
  }
  /// n blocks from the i-th of a stretch, or the i-th, the (i + step)-th ... in a loop.
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

  /// Blocks i ... i + n - 1 of a stretch are as long as the operands of offsets o, o + step ...
  void measure(const stretch& s, int i, int n, int o, int step) {
    if (of_words()) each(n, [&] { b_.measure(operand(o, step), word(at(s.stack * room_ + s.from + i, 1))); });
  }
  /// `from` in a loop to blocks i ... i + n - 1.
  void copy(const stretch& s, int i, int n, place from) {
    each(n, [&] { b_.copy(from, blocks_of(s, i, 1, 1)); });
  }
  /// Gives blocks, and adds what comes to `own`; the sum are the first n blocks of a stretch.
  void exchange(int to, place given, int from, place own, const stretch& sum, int n) {
    const place target = blocks_of(sum, 0, n);
    b_.send(to, given);
    if (of_words()) {
      place came = target;
      came.where = buffer::scratch2;
      came.origin = came.first.base;
      most_come_ = std::max(most_come_, n);
      b_.recv(from, came);
      b_.reduce(own, came, target);
    } else {
      b_.recv_reduce_right({from}, own, target);
    }
    b_.round();
  }
  void declare() {
    for (int i : {0, 1}) b_.scratch(memory(i), most_[i], how_);
    b_.scratch(buffer::scratch2, most_come_, how_);
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
  int top_[2] = {}, most_[2] = {}, most_come_ = 0;
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (p == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::pat trees(p, s.of(knob::aggregate));
  stacks st(s, b, trees);
  const auto above = [&](int hop) { return (r + hop) % p; };
  const auto below = [&](int hop) { return (r - hop + p) % p; };
  // The last message. In place the output may lie on what that round reads of the operands.
  const auto end = [&](int hop, place given, place own) {
    const bool direct = !s.in_place || r == 0 || given.where != buffer::input;
    const place result = direct ? whole(buffer::output) : whole(buffer::scratch3);
    b.send(below(hop), given);
    b.recv_reduce_right({above(hop)}, own, result);
    if (direct) return;
    b.scratch(buffer::scratch3, 1);
    b.copy(result, whole(buffer::output));
  };

  // Offsets w, w + distance ... at a time, each w after all above it in the tree, give to their parents. What
  // is a single operand is sent and added to from where it stands.
  std::vector<stretch> sums(static_cast<std::size_t>(trees.height()) + 1);  // one of each level
  const auto sum_of = [&](int w) -> stretch& { return sums[static_cast<std::size_t>(trees.level(w))]; };
  const auto hold = [&](int w, int stack) {
    const int n = trees.count(w);
    const stretch sum = sum_of(w) = st.push(stack, n);
    st.measure(sum, 0, n, w, trees.distance);
    if (n > 1) st.copy(sum, 0, n, st.operand(w, trees.distance));
  };
  for (int w = std::min(trees.distance, p) - 1; w > 0; --w) {
    const int n = trees.count(w), hop = trees.hop(w), parent = trees.parent(w);
    stretch &given = sum_of(w), &sum = sum_of(parent);
    if (given.n == 0 && n > 1) hold(w, 0);
    const place gift = given.n == 0 ? st.operand(w) : st.blocks_of(given, 0, n);
    const bool last = w == 1 && trees.together == 1, alone = sum.n == 0 && trees.count(parent) == 1;
    if (sum.n == 0 && !last) hold(parent, given.n == 0 ? 0 : 1 - given.stack);
    const place own = alone ? st.operand(parent) : st.blocks_of(sum, 0, n);
    if (last)
      end(hop, gift, own);
    else
      st.exchange(below(hop), gift, above(hop), own, sum, n);
    if (given.n != 0) st.pop(given);
    given.n = 0;
  }

  // The multiples of the distance that are left: the odd ones give to the even ones.
  stretch from = sums.back();
  for (int n = trees.count(0), step = trees.distance; n > 1; n = (n + 1) / 2, step *= 2) {
    const auto part = [&](int i, int by) {
      return from.n == 0 ? st.operand(i * step, by * step) : st.blocks_of(from, i, 1, by);
    };
    if (n == 2) {
      end(step, part(1, 0), part(0, 0));
      break;
    }
    const int odd = n / 2, even = n - odd;
    const stretch to = st.push(from.n == 0 ? 0 : 1 - from.stack, n);
    st.measure(to, 0, even, 0, 2 * step);
    st.copy(to, 0, even, part(0, 2));
    st.measure(to, even, odd, step, 2 * step);
    st.copy(to, even, odd, part(1, 2));
    st.exchange(below(step), st.blocks_of(to, even, odd), above(step), st.blocks_of(to, 0, odd), to, odd);
    if (from.n != 0) st.pop(from);
    from = to;
  }
  st.declare();
}

}  // namespace tutti::algorithms::reduce_scatter_pat
