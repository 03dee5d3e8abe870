// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/recursive_exchange, reduce_scatter_block/recursive_exchange
//
// The number of ranks is written as a product of factors of at most k. If this is impossible,
// neighboring ranks are folded to the largest smaller number of groups that is such a product. In
// each round, a set of `factor` groups cuts its range of parts into `factor` ranges. They exchange
// all of these at the same time, and each group combines what it received in rank order.
//
// If the operator commutes, the farthest groups exchange first and group g ends with part g.
// Otherwise the nearest do, so that only adjacent runs of operands are combined. A group then ends
// with the part whose number is its own with reversed digits, and one more exchange brings the
// parts to their owners.
//
// Source:       folklore (MPICH: recexch); with k = 2 Thakur, Rabenseifner, Gropp 2005, in order
//                 Traeff 2005
// Parameters:   k = 4 in 2..64: the largest factor, one more than the number of messages of a rank
//                 in progress
// Rounds:       <= p == 1 ? 0 : (k - 1) * log(k, p) + (p == pof2 ? ordered : 2 + ordered)
// Bytes:        <= p == pof2 ? n + ordered * b : n + 2 * b * (p - 1)
// Scratch:      <= p == 1 ? 0 : p * b * (1 + 2 * (k - 2) / k)
// Good for:     short vectors
#include "algorithms/parts/range_splitting.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_recursive_exchange {

namespace {

class writer {
 public:
  writer(const shape& s, builder& b)
      : s_(s), b_(b), how_(operand_partition(s)), f_(s.size, s.of(algorithm_parameter::k)) {}

  void write() {
    const int r = s_.rank, group = f_.group_of(r);
    // The group that ends with this group's part.
    const int holder = s_.commutative ? group : parts::splitting_group(f_, group);
    if (f_.is_follower(r)) {
      b_.send(r - 1, blocks(buffer::input, 0, s_.size, how_));
      b_.round();
      b_.recv(f_.leader_of(holder), whole(buffer::output));
      return;
    }
    if (f_.largest() > 2) b_.words(1, 0);
    const auto rounds = parts::splitting_rounds(f_, group, !s_.commutative);
    // In place, the output overlaps with the first operand, which must not be in use any more.
    const bool direct = holder == group && !f_.in_pair(r) && (!s_.in_place || r == 0 || rounds.size() > 1);
    if (!direct || rounds.size() > 1) b_.scratch(buffer::scratch0, s_.size, how_);
    buffer partial = buffer::input;
    if (f_.in_pair(r)) {
      b_.recv_reduce_right({r + 1}, blocks(buffer::input, 0, s_.size, how_),
                           blocks(buffer::scratch0, 0, s_.size, how_));
      b_.round();
      partial = buffer::scratch0;
    }
    for (const parts::splitting_round& one : rounds) {
      const place result = direct && one.each == 1 ? whole(buffer::output)
                                                   : blocks_of_groups(buffer::scratch0, one.own(), one.each);
      parts::split_range(
          b_, one, [&](int first, int n) { return blocks_of_groups(partial, first, n); }, result,
          buffer::scratch1);
      partial = buffer::scratch0;
    }
    if (!direct) deliver(rounds.back().own(), group, holder);
  }

 private:
  place blocks_of_groups(buffer which, int first, int n) const {
    const int rank = f_.leader_of(first);
    return blocks(which, rank, f_.leader_of(first + n) - rank, how_);
  }

  /// Sends the blocks of `part` to their owners and receives the own one.
  void deliver(int part, int group, int holder) {
    const auto sum = [&](int rank) { return block(buffer::scratch0, rank, how_); };
    const int owner = f_.leader_of(part);
    if (part != group) b_.send(owner, sum(owner));
    if (f_.in_pair(owner)) b_.send(owner + 1, sum(owner + 1));
    if (holder != group)
      b_.recv(f_.leader_of(holder), whole(buffer::output));
    else
      b_.copy(sum(s_.rank), whole(buffer::output));
  }

  const shape& s_;
  builder& b_;
  partition how_;
  patterns::factors f_;
};

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size > 1)
    writer(s, b).write();
  else if (!s.in_place)
    b.copy(block(buffer::input, 0, operand_partition(s)), whole(buffer::output));
}

}  // namespace tutti::algorithms::reduce_scatter_recursive_exchange
