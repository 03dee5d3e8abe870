// SPDX-License-Identifier: Apache-2.0
//
// reduce/chain
//
// Partial results travel from rank to rank in segments and end at the root. A rank receives and
// combines one segment while it forwards the one before. A chain from the highest rank down to root
// 0 keeps the order of operands. So does a chain from rank 0 up to the highest rank as root. If the
// order does not matter, ranks are counted from the root on.
//
// If the order matters and the root is in between, the chain begins at the root and goes down to
// rank 0. From there it goes to the rank above the root and up to the highest rank, which sends the
// result to the root. So no rank, not even the root, receives more than one message for a segment.
//
// Source:       folklore, pipelined chain; the order with an inner root: this project
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       p > 1 ? segments + p - 2 + (ordered && root > 0 && root < p - 1) : 0
// Bytes:        p > 1 ? n : 0
// Scratch:      p > 2 ? n : 0
// Good for:     vectors of many more segments than there are ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_chain {

namespace {

// The rank that sends to this rank and the one that it sends to, -1 if there is none. `left`: what
// arrives is the left operand.
struct link {
  int from, to;
  bool left;
};

link link_of(const shape& s) {
  const int p = s.size, r = s.rank, root = s.root;
  if (!s.commutative && root == p - 1) return {r - 1, r == root ? -1 : r + 1, true};
  if (s.commutative || root == 0) {
    const int v = s.relative();
    return {v == p - 1 ? -1 : s.absolute(v + 1), v == 0 ? -1 : s.absolute(v - 1), false};
  }
  if (r == root) return {p - 1, r - 1, false};
  if (r < root) return {r + 1, r == 0 ? root + 1 : r - 1, false};
  return {r == root + 1 ? 0 : r - 1, r == p - 1 ? root : r + 1, true};
}

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  const link l = link_of(s);
  const auto part = [](buffer which, int first) { return segment(whole(which), at(first, 1)); };
  const auto add = [&](buffer into) { b.recv_reduce(l.from, l.left, part(buffer::input, 0), part(into, 0)); };
  if (l.to < 0) {
    b.loop({0, 1}, [&] { add(buffer::output); });
  } else if (l.from < 0) {
    b.loop({0, 1}, [&] { b.send(l.to, part(buffer::input, 0)); });
  } else if (s.rank == s.root) {
    // A segment returns after it has passed all other ranks.
    const int behind = s.size - 1;
    b.loop({behind, 1}, [&] {
      b.send(l.to, part(buffer::input, 0));
      b.recv(l.from, part(buffer::output, -behind));
    });
  } else {
    b.scratch(buffer::scratch0, 1);
    b.loop({1, 1}, [&] {
      add(buffer::scratch0);
      b.send(l.to, part(buffer::scratch0, -1));
    });
  }
}

}  // namespace tutti::algorithms::reduce_chain
