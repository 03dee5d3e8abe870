// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/pat, reduce_scatter_block/pat
//
// Each block is reduced along a separate binomial tree, shifted by the rank of its owner, the
// shortest hops first. Trees of blocks at equal distances share messages. The trees are walked
// depth first: a rank stores only the partial results on the path to the root, not one for each
// rank. They are on two stacks. If a node sends its sum to a parent that has none yet, the parent's
// sum begins on the other stack.
//
// Source:       Jeaugey 2025 (PAT)
// Restrictions: commutative
// Reach:        hops around
// Parameters:   aggregate = 16 in 1..65536: blocks of one message, rounded down to a power of two
// Rounds:       min(p, pow(2, max(0, ceil_log(2, p) - floor_log(2, aggregate)))) - 1 +
//                 min(ceil_log(2, p), floor_log(2, aggregate))
// Bytes:        n * (p - 1) / p
// Scratch:      <= p == 1 ? 0 : b * pow(2, min(ceil_log(2, p), floor_log(2, aggregate))) *
//                 (2 + max(0, ceil_log(2, p) - floor_log(2, aggregate)))
// Good for:     many ranks and short or medium blocks, if scratch memory is scarce
#include "schedule/patterns/pat.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/parts/block_stacks.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_pat {
namespace {

// The last message, over `hop`. In place, the output may overlap with operands that this round
// reads.
void finish(const shape& s, builder& b, int hop, place given, place own) {
  const bool direct = !s.in_place || s.rank == 0 || given.where != buffer::input;
  const place result = direct ? whole(buffer::output) : whole(buffer::scratch3);
  b.send((s.rank - hop + s.size) % s.size, given);
  b.recv_reduce_right({(s.rank + hop) % s.size}, own, result);
  if (direct) return;
  b.scratch(buffer::scratch3, 1);
  b.copy(result, whole(buffer::output));
}

// Reduces the multiples of the distance; their sums are in `from`, or do not exist yet. Odd
// multiples are sent to the even ones.
void add_multiples(const shape& s, builder& b, const patterns::pat& trees, parts::block_stacks& st,
                   parts::stack_range from) {
  for (int n = trees.count(0), step = trees.distance; n > 1; n = (n + 1) / 2, step *= 2) {
    const auto part = [&](int i, int by) {
      return from.n == 0 ? st.operand(i * step, by * step) : st.blocks_of(from, i, 1, by);
    };
    if (n == 2) {
      finish(s, b, step, part(1, 0), part(0, 0));
      return;
    }
    const int odd = n / 2, even = n - odd;
    const parts::stack_range to = st.push(from.n == 0 ? 0 : 1 - from.stack, n);
    st.measure(to, 0, even, 0, 2 * step);
    st.copy(to, 0, even, part(0, 2));
    st.measure(to, even, odd, step, 2 * step);
    st.copy(to, even, odd, part(1, 2));
    st.exchange((s.rank - step + s.size) % s.size, st.blocks_of(to, even, odd), (s.rank + step) % s.size,
                st.blocks_of(to, 0, odd), to, odd);
    if (from.n != 0) st.pop(from);
    from = to;
  }
}

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (p == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::pat trees(p, s.of(algorithm_parameter::aggregate));
  parts::block_stacks st(s, b, trees.trees_per_message * (trees.height() / 2 + 2));
  const auto above = [&](int hop) { return (r + hop) % p; };
  const auto below = [&](int hop) { return (r - hop + p) % p; };

  // Processes offsets w, w + distance ... together, each w after all those above it in the tree,
  // and sends their sums to the parents. A single operand is sent and combined directly from the
  // input.
  // `sums` has one entry for each level.
  std::vector<parts::stack_range> sums(static_cast<std::size_t>(trees.height()) + 1);
  const auto sum_of = [&](int w) -> parts::stack_range& {
    return sums[static_cast<std::size_t>(trees.level(w))];
  };
  const auto push_operand = [&](int w, int stack) {
    const int n = trees.count(w);
    const parts::stack_range sum = sum_of(w) = st.push(stack, n);
    st.measure(sum, 0, n, w, trees.distance);
    if (n > 1) st.copy(sum, 0, n, st.operand(w, trees.distance));
  };
  for (int w = std::min(trees.distance, p) - 1; w > 0; --w) {
    const int n = trees.count(w), hop = trees.hop(w), parent = trees.parent(w);
    parts::stack_range &given = sum_of(w), &sum = sum_of(parent);
    if (given.n == 0 && n > 1) push_operand(w, 0);
    const place sent = given.n == 0 ? st.operand(w) : st.blocks_of(given, 0, n);
    const bool last = w == 1 && trees.trees_per_message == 1;
    const bool direct_target = sum.n == 0 && trees.count(parent) == 1;
    if (sum.n == 0 && !last) push_operand(parent, given.n == 0 ? 0 : 1 - given.stack);
    const place own = direct_target ? st.operand(parent) : st.blocks_of(sum, 0, n);
    if (last)
      finish(s, b, hop, sent, own);
    else
      st.exchange(below(hop), sent, above(hop), own, sum, n);
    if (given.n != 0) st.pop(given);
    given.n = 0;
  }

  add_multiples(s, b, trees, st, sums.back());
  st.declare();
}

}  // namespace tutti::algorithms::reduce_scatter_pat
