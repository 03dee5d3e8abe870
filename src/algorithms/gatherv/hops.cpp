// SPDX-License-Identifier: Apache-2.0
//
// gatherv/hops
//
// The ranks are cut into two halves, each of which is gathered in the same way. The root gathers
// one half. A rank a power of two away gathers the other half and sends it to the root as one
// message without gaps. Only the root knows the lengths of the blocks, so they travel up first.
// While a rank receives blocks, its own lengths are already on their way. No message wraps around
// the ends.
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

namespace tutti::algorithms::gatherv_hops {

namespace {

using patterns::hop_tree;

void write_inner(const shape& s, builder& b, const hop_tree& tree) {
  const int first = tree.ranks.low, mine = tree.ranks.size();
  // Word i is the length of the block of rank first + i.
  b.words(mine);
  tree.for_each_child_up([&](const hop_tree::child& child) {
    b.recv(child.rank, words(child.ranks.low - first, child.ranks.size()));
  });
  b.measure(whole(buffer::input), word(s.rank - first));
  if (mine > 1) b.reserve(dense(buffer::scratch0, 0, mine));
  if (tree.parent != s.root) b.send(tree.parent, words(0, mine));
  if (mine == 1) {
    b.send(tree.parent, whole(buffer::input));
    return;
  }
  tree.for_each_child_up([&](const hop_tree::child& child) {
    b.recv(child.rank, dense(buffer::scratch0, child.ranks.low - first, child.ranks.size()));
  });
  b.copy(whole(buffer::input), dense(buffer::scratch0, s.rank - first));
  b.send(tree.parent, dense(buffer::scratch0, 0, mine));
}

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size;
  const hop_tree tree(s.rank, s.root, p);
  if (tree.parent >= 0) {
    write_inner(s, b, tree);
    return;
  }
  // Messages with blocks of several ranks pass through scratch memory. The root receives the single
  // blocks of its adjacent leaf children directly.
  const patterns::row leaves = tree.leaf_range(s.rank);
  const auto result = [](index i) { return block(buffer::output, i, partition::output_counts); };
  const auto each_of_several = [&](auto&& body) {
    for (const patterns::row& side : {patterns::row{0, leaves.low}, patterns::row{leaves.high, p}})
      b.loop(side.size(), [&] { body(at(side.low, 1)); });
  };
  if (leaves.size() < p) {
    // Word i is the length of rank i's block; it is 0 for the ranks in `leaves`.
    b.words(p);
    each_of_several([&](index i) { b.measure(result(i), word(i)); });
    b.reserve(dense(buffer::scratch0, 0, p));
  }
  tree.for_each_child_up([&](const hop_tree::child& child) {
    const int n = child.ranks.size();
    b.recv(child.rank, n == 1 ? result(index{child.rank}) : dense(buffer::scratch0, child.ranks.low, n));
  });
  if (!s.in_place) b.copy(whole(buffer::input), result(index{s.rank}));
  each_of_several([&](index i) { b.copy(dense(buffer::scratch0, i), result(i)); });
}

}  // namespace tutti::algorithms::gatherv_hops
