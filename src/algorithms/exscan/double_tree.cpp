// SPDX-License-Identifier: Apache-2.0
//
// exscan/double_tree
//
// The two trees of scan/double_tree. A node adds the sum of all ranks below its interval, which its
// parent sends, to the sum of its lower subtree: this is its result. It sends the result combined
// with its own operand to its upper child. In place, the result waits in scratch until the operand
// has been used.
//
// Source:       Sanders, Speck, Traeff 2009; a single tree: Sanders, Traeff 2006
// Reach:        hops around
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p == 1 ? 0 : 4 * (ceil(n / 2 / segment) - 1)
//                 + 4 * (floor_log(2, 2 * floor(p / 2)) + (2 * floor(p / 2) < p))
// Bytes:        <= p == 1 ? 0 : n * min(p, 4) / 2
// Scratch:      <= p < 3 ? 0 : n * (2 + in_place)
// Good for:     long vectors on so many ranks that filling a chain takes long
#include "algorithms/parts/two_tree_scan.hpp"

namespace tutti::algorithms::exscan_double_tree {

namespace {

// scratch0 holds the sum of the interval, and later the sum of all ranks below it. scratch1 holds
// what the upper child gets.
class half_exscan : private parts::half_position {
 public:
  half_exscan(const shape& s, builder& b, const patterns::two_trees& trees, int tree)
      : half_position(s, b, trees, tree), in_place_(s.in_place) {}

  void declare() {
    if (n_.is_leaf()) return;
    if (gives_ || (needs_ && n_.lower >= 0)) b_.scratch(buffer::scratch0, 1);
    if (n_.upper >= 0 && forwarded() == buffer::scratch1) b_.scratch(buffer::scratch1, 1);
    if (keeps_operand() && (needs_ || n_.lower >= 0)) b_.scratch(buffer::scratch2, 1);
  }

  void transfer_up(int turn) {
    const bool lower = n_.lower >= 0 && n_.lower_turn == turn, upper = n_.upper >= 0 && n_.upper_turn == turn;
    if (gives_ && n_.turn == turn)
      b_.send(n_.parent, part(n_.is_leaf() ? buffer::input : buffer::scratch0, below_ + 1));
    if (lower) b_.recv(n_.lower, part(result(), below_));
    if (upper && gives_)
      b_.recv_reduce_right(
          {n_.upper}, part(n_.lower >= 0 && n_.lower_turn < turn ? buffer::scratch0 : buffer::input, below_),
          part(buffer::scratch0, below_));
  }

  void transfer_down(int turn) {
    if (n_.lower >= 0 && needs_ && n_.lower_turn == turn) b_.send(n_.lower, part(buffer::scratch0, above_));
    if (n_.upper >= 0 && n_.upper_turn == turn) b_.send(n_.upper, part(forwarded(), above_));
    if (needs_ && n_.turn == turn)
      b_.recv(n_.parent, part(n_.lower >= 0 ? buffer::scratch0 : result(), above_ - 1));
  }

  void combine(int turn) {
    if (n_.lower >= 0 && n_.lower_turn == turn) {
      const bool upper_is_first = n_.upper >= 0 && n_.upper_turn < turn;
      if (gives_)
        b_.reduce(part(result(), below_), part(upper_is_first ? buffer::scratch0 : buffer::input, below_),
                  part(buffer::scratch0, below_));
      if (!needs_) finish(below_);
    }
    if (!needs_ || n_.turn != turn) return;
    if (n_.lower >= 0)
      b_.reduce(part(buffer::scratch0, above_ - 1), part(result(), above_ - 1), part(result(), above_ - 1));
    finish(above_ - 1);
  }

 private:
  // A leaf's operand has been sent long before its result arrives.
  bool keeps_operand() const { return in_place_ && (n_.upper >= 0 || (n_.lower >= 0 && gives_)); }
  buffer result() const { return keeps_operand() ? buffer::scratch2 : buffer::output; }
  buffer forwarded() const { return needs_ || n_.lower >= 0 ? buffer::scratch1 : buffer::input; }
  // The result of a segment is complete, and its operand is needed only here.
  void finish(int behind) {
    if (n_.upper >= 0)
      b_.reduce(part(result(), behind), part(buffer::input, behind), part(buffer::scratch1, behind));
    if (result() != buffer::output) b_.copy(part(result(), behind), part(buffer::output, behind));
  }

  bool in_place_;
};

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size == 1) return;
  const patterns::two_trees trees(s.rank, s.size);
  parts::split_for_two_trees(s, b);
  half_exscan halves[] = {{s, b, trees, 0}, {s, b, trees, 1}};
  for (half_exscan& h : halves) h.declare();
  parts::send_along_two_trees(b, trees, halves);
}

}  // namespace tutti::algorithms::exscan_double_tree
