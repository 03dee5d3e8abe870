// SPDX-License-Identifier: Apache-2.0
//
// allreduce/hops
//
// Let P be the largest power of two that is at most the number of ranks. A rank from P on sends its
// operand to the rank P below it and receives the result from there. In round i, rank r < P
// exchanges partial results with rank r xor 2^i; the lower rank's is the left operand. All hops are
// powers of two that never wrap around the ends. If the order of operands matters, the partial
// result of the ranks from P on stays separate. It is combined on the right at the end. All ranks
// combine in the same way, so that all results are identical to the bit.
//
// Source:       Thakur, Rabenseifner, Gropp 2005; the fold by a hop, side by side where ordered:
//                 this project
// Reach:        hops
// Rounds:       log2(pof2) + (p == pof2 ? 0 : 2)
// Bytes:        n * (log2(pof2) * (ordered && p != pof2 ? 2 : 1) + (p == pof2 ? 0 : 1))
// Scratch:      p == 1 ? 0 : n * (ordered && p != pof2 ? 4 : 1)
// Good for:     short vectors, and groups whose members know only those 2^d away
#include <bit>

#include "algorithms/parts/alternating_buffers.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_hops {

namespace {

struct cube {
  int size;  // P
  int bits;
  int followers;  // number of ranks from P on

  explicit cube(int p)
      : size(static_cast<int>(std::bit_floor(static_cast<unsigned>(p)))),
        bits(std::countr_zero(static_cast<unsigned>(size))),
        followers(p - size) {}
};

// The result is in the output at the end.
void exchange(const shape& s, builder& b, const cube& c) {
  const int r = s.rank;
  const bool has_follower = r < c.followers;
  const parts::alternating_buffers targets(c.bits, 0, s.in_place && !has_follower);
  if (targets.use_scratch() || has_follower) b.scratch(buffer::scratch0, 1);
  place own = whole(buffer::input);
  if (has_follower) {
    const place both = whole(targets.of(0) == buffer::output ? buffer::scratch0 : buffer::output);
    b.recv_reduce_right({r + c.size}, own, both);
    own = both;
    b.round();
  }
  for (int i = 0; i < c.bits; ++i) {
    const int partner = r ^ (1 << i);
    const place target = whole(targets.of(i));
    b.send(partner, own);
    b.recv_reduce(partner, partner < r, own, target);
    b.round();
    own = target;
  }
  if (targets.end_in_scratch()) b.copy(own, whole(buffer::output));
}

// The same in order: block 0 of a buffer belongs to ranks below P, block 1 to those from P on.
// Ranks from `followers` on have no block 1 until they exchange with a rank that has one.
void exchange_in_order(const shape& s, builder& b, const cube& c) {
  const int r = s.rank;
  buffer now = buffer::scratch0, next = buffer::scratch1;
  b.scratch(now, 2);
  b.scratch(next, 2);
  place own = whole(buffer::input);
  if (r < c.followers) {
    b.recv(r + c.size, block(now, 1));
    b.copy(own, block(now, 0));
    own = block(now, 0);
    b.round();
  }
  for (int i = 0; i < c.bits; ++i) {
    // `own` covers first .. first + hop - 1
    const int hop = 1 << i, partner = r ^ hop, first = r & -hop;
    const bool mine = first < c.followers, theirs = (first ^ hop) < c.followers, from_left = partner < r;
    b.send(partner, mine ? blocks(now, 0, 2) : own);
    if (mine && theirs) {
      b.recv_reduce(partner, from_left, blocks(now, 0, 2), blocks(next, 0, 2));
    } else if (theirs) {
      b.recv(partner, blocks(next, 0, 2));
      b.reduce(block(next, 0), own, block(next, 0));
    } else {
      b.recv_reduce(partner, from_left, own, block(next, 0));
      if (mine) b.copy(block(now, 1), block(next, 1));
    }
    b.round();
    std::swap(now, next);
    own = block(now, 0);
  }
  b.reduce(own, block(now, 1), whole(buffer::output));
}

}  // namespace

void write(const shape& s, builder& b) {
  const cube c(s.size);
  const int r = s.rank;
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  if (r >= c.size) {
    b.send(r - c.size, whole(buffer::input));
    b.round();
    b.recv(r - c.size, whole(buffer::output));
    return;
  }
  if (s.commutative || c.followers == 0)
    exchange(s, b, c);
  else
    exchange_in_order(s, b, c);
  b.round();
  if (r < c.followers) b.send(r + c.size, whole(buffer::output));
}

}  // namespace tutti::algorithms::allreduce_hops
