// SPDX-License-Identifier: Apache-2.0
//
// scatterv/hops
//
// The ranks are cut into two halves. The root sends the blocks of the other half, as one message
// without gaps, to a rank there that is a power of two away. Then each of the two serves its half
// in the same way. Only the root knows the lengths of the blocks, so they travel down first, to
// ranks that serve others. While a rank receives blocks, it forwards the lengths. No message wraps
// around the ends.
//
// Source:       folklore, recursive halving of the ranks; hops of powers of two for any root: this
//                 project
// Reach:        hops
// Rounds:       <= p == 1 ? 0 : 2 * ceil_log(2, p) - 1
// Bytes:        <= (b + word) * (p - 1)
// Scratch:      (b + word) * p
// Good for:     small blocks, and groups whose members know only those 2^d away
#include "schedule/algorithm.hpp"
#include "schedule/patterns/hop_tree.hpp"

namespace tutti::algorithms::scatterv_hops {

namespace {

using patterns::hop_tree;

// Sends the lengths of each child's subtree, if it has several ranks. Word 0 is the length of rank
// `first`.
void send_lengths(builder& b, const hop_tree& tree, int first) {
  for (const auto& child : tree.children)
    if (child.ranks.size() > 1) b.send(child.rank, words(child.ranks.low - first, child.ranks.size()));
}

void write_inner(const shape& s, builder& b, const hop_tree& tree) {
  const int first = tree.ranks.low, mine = tree.ranks.size();
  if (mine == 1) {
    b.recv(tree.parent, whole(buffer::output));
    return;
  }
  // Word i is the length of the block of rank first + i.
  b.words(mine);
  b.recv(tree.parent, words(0, mine));
  b.reserve(dense(buffer::scratch0, 0, mine));
  b.recv(tree.parent, dense(buffer::scratch0, 0, mine));
  send_lengths(b, tree, first);
  for (const auto& child : tree.children) {
    b.round();  // children of one round would share the bandwidth
    b.send(child.rank, dense(buffer::scratch0, child.ranks.low - first, child.ranks.size()));
  }
  b.copy(dense(buffer::scratch0, s.rank - first), whole(buffer::output));
}

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size;
  const hop_tree tree(s.rank, s.root, p);
  if (tree.parent >= 0) {
    write_inner(s, b, tree);
    return;
  }
  // Messages with blocks of several ranks pass through scratch memory. The root sends the single
  // blocks of its adjacent leaf children directly.
  const patterns::row leaves = tree.leaf_range(s.rank);
  const auto operand = [](index i) { return block(buffer::input, i, partition::input_counts); };
  const auto each_of_several = [&](auto&& body) {
    for (const patterns::row& side : {patterns::row{0, leaves.low}, patterns::row{leaves.high, p}})
      b.loop(side.size(), [&] { body(at(side.low, 1)); });
  };
  if (leaves.size() < p) {
    // Word i is the length of rank i's block; it is 0 for the ranks in `leaves`.
    b.words(p);
    each_of_several([&](index i) { b.measure(operand(i), word(i)); });
    b.reserve(dense(buffer::scratch0, 0, p));
    b.round();
    each_of_several([&](index i) { b.copy(operand(i), dense(buffer::scratch0, i)); });
  }
  for (const auto& child : tree.children) {
    const int n = child.ranks.size();
    b.round();
    if (n > 1) b.send(child.rank, words(child.ranks.low, n));
    b.send(child.rank, n == 1 ? operand(index{child.rank}) : dense(buffer::scratch0, child.ranks.low, n));
  }
  if (!s.in_place) b.copy(operand(index{s.rank}), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatterv_hops
