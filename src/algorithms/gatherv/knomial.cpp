// SPDX-License-Identifier: Apache-2.0
//
// gatherv/knomial
//
// A k-nomial tree around the root. Each rank collects the blocks of its subtree, which consists of
// consecutive ranks, and sends them up as one message without gaps. Only the root knows the lengths
// of the blocks, so they travel up first. While a rank receives blocks, its own lengths are already
// on their way.
//
// Source:       folklore; MPICH's gather for the tree
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: fan-out of the tree
// Rounds:       <= p == 1 ? 0 : (k - 1) * (2 * ceil_log(k, p) - 1)
// Bytes:        <= (b + word) * (p - 1)
// Scratch:      (b + word) * p
// Good for:     small blocks
#include "schedule/patterns/knomial.hpp"

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::gatherv_knomial {

namespace {

void write_inner(const shape& s, builder& b, int v) {
  const int k = s.of(algorithm_parameter::k), mine = patterns::knomial_subtree(v, s.size, k);
  const int above = patterns::knomial_parent(v, s.size, k), parent = s.absolute(above);
  // Word i is the length of the block of position v + i.
  b.words(mine);
  patterns::for_each_knomial_child(v, s.size, k, [&](int child) {
    b.recv(s.absolute(child), words(child - v, patterns::knomial_subtree(child, s.size, k)));
  });
  b.measure(whole(buffer::input), word(0));
  if (mine > 1) b.reserve(dense(buffer::scratch0, 0, mine));
  if (above != 0) b.send(parent, words(0, mine));
  if (mine == 1) {
    b.send(parent, whole(buffer::input));
    return;
  }
  patterns::for_each_knomial_child(v, s.size, k, [&](int child) {
    b.recv(s.absolute(child),
           dense(buffer::scratch0, child - v, patterns::knomial_subtree(child, s.size, k)));
  });
  b.copy(whole(buffer::input), dense(buffer::scratch0, 0));
  b.send(parent, dense(buffer::scratch0, 0, mine));
}

}  // namespace

void write(const shape& s, builder& b) {
  if (const int v = s.relative(); v != 0) {
    write_inner(s, b, v);
    return;
  }
  const int p = s.size, k = s.of(algorithm_parameter::k);
  const int first = std::min(k, p);  // positions before it send a single block
  const auto result = [&](int v, int step) {
    return block(buffer::output, at(s.root + v, step, p), partition::output_counts);
  };
  if (p > first) {
    // Word i is the length of the block of position i.
    b.words(p);
    b.loop(p - first, [&] { b.measure(result(first, 1), word(at(first, 1))); });
    b.reserve(dense(buffer::scratch0, first, p - first, first));
  }
  patterns::for_each_knomial_child(0, p, k, [&](int child) {
    b.recv(s.absolute(child),
           child < first ? result(child, 0)
                         : dense(buffer::scratch0, child, patterns::knomial_subtree(child, p, k), first));
  });
  if (!s.in_place) b.copy(whole(buffer::input), result(0, 0));
  b.loop(p - first, [&] { b.copy(dense(buffer::scratch0, at(first, 1), 1, first), result(first, 1)); });
}

}  // namespace tutti::algorithms::gatherv_knomial
