// SPDX-License-Identifier: Apache-2.0
//
// scan/double_tree
//
// Each half of the vector travels along a separate binary tree, segment by segment. A rank that is
// an inner node of one tree is a leaf of the other. The trees are numbered in-order, so the subtree
// of a node is an interval of ranks. Upwards a node gets the sums of its two subtrees and sends the
// sum of its interval to its parent. Downwards it gets the sum of all ranks below its interval. It
// forwards this sum to its lower child, and sends its own result to its upper child. Sums that no
// rank needs are not sent: intervals that end at the last rank have nobody above, and those that
// begin at rank 0 have nobody below.
//
// Source:       Sanders, Speck, Traeff 2009; a single tree: Sanders, Traeff 2006
// Reach:        hops around
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p == 1 ? 0 : 4 * (ceil(n / 2 / segment) - 1)
//                 + 4 * (floor_log(2, 2 * floor(p / 2)) + (2 * floor(p / 2) < p))
// Bytes:        <= p == 1 ? 0 : n * min(p, 4) / 2
// Scratch:      p < 3 ? 0 : n
// Good for:     long vectors on so many ranks that filling a chain takes long
#include "algorithms/parts/two_tree_scan.hpp"

namespace tutti::algorithms::scan_double_tree {

namespace {

class half_scan : private parts::half_position {
 public:
  half_scan(const shape& s, builder& b, const patterns::two_trees& trees, int tree)
      : half_position(s, b, trees, tree) {}

  bool use_scratch() const { return (n_.upper >= 0 && gives_) || (n_.lower >= 0 && needs_); }

  void transfer_up(int turn) {
    if (gives_ && n_.turn == turn) b_.send(n_.parent, part(sum(), below_ + 1));
    if (n_.lower >= 0 && n_.lower_turn == turn)
      b_.recv_reduce_left({n_.lower}, part(buffer::input, below_), part(buffer::output, below_));
    if (n_.upper >= 0 && gives_ && n_.upper_turn == turn) {
      if (upper_is_first())
        b_.recv(n_.upper, part(buffer::scratch0, below_));
      else
        b_.recv_reduce_right({n_.upper}, part(own(), below_), part(buffer::scratch0, below_));
    }
  }

  void transfer_down(int turn) {
    if (n_.lower >= 0 && needs_ && n_.lower_turn == turn) b_.send(n_.lower, part(buffer::scratch0, above_));
    if (n_.upper >= 0 && n_.upper_turn == turn)
      b_.send(n_.upper, part(needs_ ? buffer::output : own(), above_));
    if (!needs_ || n_.turn != turn) return;
    if (n_.lower >= 0)
      b_.recv(n_.parent, part(buffer::scratch0, above_ - 1));
    else
      b_.recv_reduce_left({n_.parent}, part(buffer::input, above_ - 1), part(buffer::output, above_ - 1));
  }

  void combine(int turn) {
    if (gives_ && upper_is_first() && n_.lower_turn == turn)
      b_.reduce(part(buffer::output, below_), part(buffer::scratch0, below_), part(buffer::scratch0, below_));
    if (n_.lower >= 0 && needs_ && n_.turn == turn)
      b_.reduce(part(buffer::scratch0, above_ - 1), part(buffer::output, above_ - 1),
                part(buffer::output, above_ - 1));
  }

 private:
  // The sum of the lower subtree and the own operand, and the sum of the whole interval.
  buffer own() const { return n_.lower >= 0 ? buffer::output : buffer::input; }
  buffer sum() const { return n_.upper >= 0 ? buffer::scratch0 : own(); }
  bool upper_is_first() const { return n_.lower >= 0 && n_.upper >= 0 && n_.upper_turn < n_.lower_turn; }
};

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size > 1) {
    const patterns::two_trees trees(s.rank, s.size);
    parts::split_for_two_trees(s, b);
    half_scan halves[] = {{s, b, trees, 0}, {s, b, trees, 1}};
    if (halves[0].use_scratch() || halves[1].use_scratch()) b.scratch(buffer::scratch0, 1);
    parts::send_along_two_trees(b, trees, halves);
  }
  if (s.rank == 0 && !s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
}

}  // namespace tutti::algorithms::scan_double_tree
