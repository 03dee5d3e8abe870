// SPDX-License-Identifier: Apache-2.0
//
// reduce/in_order_binary
//
// A binary tree that keeps the order of operands, rooted at the root of the call. The ranks below
// and above the root form one balanced tree each; if one side is empty, the other is halved. Every
// inner rank follows both its subtrees in rank order. So it combines the second child's data on the
// left of its operand, and the first child's data on the left of that. This happens segment by
// segment, while it forwards the previous segment.
//
// Source:       folklore, in-order binary tree as in Open MPI; here without a detour over another
//                 root
// Parameters:   segment = 32768 in 1..1073741824: bytes of one message
// Rounds:       <= p > 1 ? 2 * (segments - 1 + floor_log(2, p + 1)) : 0
// Bytes:        n * min(p - 1, 2)
// Scratch:      p > 3 ? n : 0
// Good for:     long vectors and operators that do not commute
#include "schedule/algorithm.hpp"
#include "schedule/patterns/post_order.hpp"

namespace tutti::algorithms::reduce_in_order_binary {

namespace {

struct interval {
  int low, high;

  bool contains(int r) const { return low <= r && r <= high; }
  int size() const { return high - low + 1; }
};

// The root's two subtrees, in rank order. Of two halves the longer one is received last, so that it
// has more time.
struct halves {
  interval first, second;

  halves(int p, int root) : first{0, root - 1}, second{root + 1, p - 1} {
    const int others = p - 1;
    if (root == 0) {
      first = {1, others / 2};
      second = {others / 2 + 1, p - 1};
    } else if (root == p - 1) {
      first = {0, (others + 1) / 2 - 1};
      second = {(others + 1) / 2, p - 2};
    }
  }
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, root = s.root;
  if (p == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  const halves h(p, root);
  const auto part = [](buffer which, int first) { return segment(whole(which), at(first, 1)); };
  if (r == root) {
    place own = part(buffer::input, 0);
    const place result = part(buffer::output, 0);
    const auto add = [&](const interval& side) {
      if (side.size() == 0) return;
      b.recv_reduce(side.high, side.high < root, own, result);
      b.round();
      own = result;
    };
    // Begins with the side next to the own operand. If both orders are correct, the longer side is
    // last.
    const bool second_first = root == p - 1 || (root > 0 && h.second.size() < h.first.size());
    b.loop({0, 1}, [&] {
      add(second_first ? h.second : h.first);
      add(second_first ? h.first : h.second);
    });
    return;
  }
  const interval& side = h.first.contains(r) ? h.first : h.second;
  const patterns::post_order_node own = patterns::post_order(r, side.low, side.high);
  const int parent = own.parent < 0 ? root : own.parent;
  if (own.first < 0) {
    b.loop({0, 1}, [&] { b.send(parent, part(buffer::input, 0)); });
    return;
  }
  b.scratch(buffer::scratch0, 1);
  const place partial = part(buffer::scratch0, 0);
  b.loop({1, 1}, [&] {
    const bool both = own.second >= 0;
    b.send(parent, part(buffer::scratch0, -1));
    b.recv_reduce_left({both ? own.second : own.first}, part(buffer::input, 0), partial);
    b.round();
    if (both) b.recv_reduce_left({own.first}, partial, partial);
  });
}

}  // namespace tutti::algorithms::reduce_in_order_binary
