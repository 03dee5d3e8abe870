// SPDX-License-Identifier: Apache-2.0
//
// scatterv/knomial
//
// A k-nomial tree around the root. Each rank receives the blocks of its subtree as one message
// without gaps and sends each child its part, the largest first. Only the root knows the lengths of
// the blocks, so they travel down first, to ranks with children. While a rank receives blocks, it
// forwards the lengths. Children that are served at the same time share the bandwidth of a link, so
// the deepest one waits for the others. A larger window pays if they read their blocks from shared
// memory.
//
// Source:       folklore; MPICH's scatter for the tree
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: fan-out of the tree;
//                 window = 1 in 1..1024: children that are served at the same time
// Rounds:       <= p == 1 ? 0 : (k - 1) * (2 * ceil_log(k, p) - 1)
// Bytes:        <= (b + word) * (p - 1)
// Scratch:      (b + word) * p
// Good for:     small blocks
#include "schedule/patterns/knomial.hpp"

#include "algorithms/parts/knomial_children.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scatterv_knomial {

namespace {

// Sends the lengths of a child's subtree, if it has several ranks.
void send_lengths(const shape& s, builder& b, int v, int child) {
  const int n = patterns::knomial_subtree(child, s.size, s.of(algorithm_parameter::k));
  if (n > 1) b.send(s.absolute(child), words(child - v, n));
}

void write_inner(const shape& s, builder& b, int v) {
  const int k = s.of(algorithm_parameter::k), mine = patterns::knomial_subtree(v, s.size, k);
  const int parent = s.absolute(patterns::knomial_parent(v, s.size, k));
  if (mine == 1) {
    b.recv(parent, whole(buffer::output));
    return;
  }
  // Word i is the length of the block of position v + i.
  b.words(mine);
  b.recv(parent, words(0, mine));
  b.reserve(dense(buffer::scratch0, 0, mine));
  b.recv(parent, dense(buffer::scratch0, 0, mine));
  patterns::for_each_knomial_child_down(v, s.size, k, [&](int child) { send_lengths(s, b, v, child); });
  b.round();
  parts::serve_children(s, b, v, [&](int child) {
    b.send(s.absolute(child),
           dense(buffer::scratch0, child - v, patterns::knomial_subtree(child, s.size, k)));
  });
  b.copy(dense(buffer::scratch0, 0), whole(buffer::output));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (const int v = s.relative(); v != 0) {
    write_inner(s, b, v);
    return;
  }
  const int p = s.size, k = s.of(algorithm_parameter::k);
  const int first = std::min(k, p);  // positions before it receive a single block
  const auto operand = [&](int v, int step) {
    return block(buffer::input, at(s.root + v, step, p), partition::input_counts);
  };
  if (p > first) {
    // Word i is the length of the block of position i.
    b.words(p);
    b.loop(p - first, [&] { b.measure(operand(first, 1), word(at(first, 1))); });
    b.reserve(dense(buffer::scratch0, first, p - first, first));
    b.round();
    b.loop(p - first, [&] { b.copy(operand(first, 1), dense(buffer::scratch0, at(first, 1), 1, first)); });
  }
  parts::serve_children(s, b, 0, [&](int child) {
    send_lengths(s, b, 0, child);
    b.send(s.absolute(child),
           child < first ? operand(child, 0)
                         : dense(buffer::scratch0, child, patterns::knomial_subtree(child, p, k), first));
  });
  if (!s.in_place) b.copy(operand(0, 0), whole(buffer::output));
}

}  // namespace tutti::algorithms::scatterv_knomial
