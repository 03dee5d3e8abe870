// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/along, reduce_scatter_block/along
//
// For every block, two partial results travel towards its owner, one from each end of the ranks.
// Each rank on the way combines its operand. The result is: what arrives from the left, the own
// operand, what arrives from the right, in this order. Blocks that travel farthest start first, so
// that at every rank the last message from either side is for its own block. Each side has two
// blocks of scratch: one is sent while the other is received.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p < 3 ? p - 1 : p + ceil(p / 2) - 1
// Bytes:        p < 3 ? n - b : n + b
// Scratch:      p < 3 ? b * (p - 1) * in_place : 4 * b
// Good for:     groups whose members know only their neighbors, also with operators that do not
//                 commute
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::reduce_scatter_along {

namespace {

struct writer {
  const shape& s;
  builder& b;
  int p, r;
  partition how;

  place operand(index of) const { return block(buffer::input, of, how); }
  // The buffer of a partial result that arrived in a given step.
  place partial(bool from_left, int step, index of) {
    constexpr buffer turns[2][2] = {{buffer::scratch2, buffer::scratch3},
                                    {buffer::scratch0, buffer::scratch1}};
    const buffer which = turns[from_left ? 1 : 0][step % 2];
    b.scratch(which, 1, how);
    return packed(block(which, of, how));
  }

  // Steps are common to all ranks. From the left arrive blocks p - 1 ... r, beginning in step r -
  // 1. From the right arrive blocks 0 ... r, beginning in step p - 2 - r. In step p - 2 both end
  // with the own block.
  void forward(int step, int by) {
    if (r + 1 < p && step >= r) {
      const index of = at(p - 1 + r - step, -by);
      b.send(r + 1, r == 0 ? operand(of) : partial(true, step - 1, of));
    }
    if (r > 0 && step >= p - 1 - r) {
      const index of = at(step - (p - 1 - r), by);
      b.send(r - 1, r == p - 1 ? operand(of) : partial(false, step - 1, of));
    }
  }
  void receive(int step, int by) {
    if (r > 0 && step >= r - 1) {
      const index of = at(p - 2 + r - step, -by);
      b.recv_reduce_left({r - 1}, operand(of), partial(true, step, of));
    }
    if (r + 1 < p && step >= p - 2 - r) {
      const index of = at(step - (p - 2 - r), by);
      b.recv_reduce_right({r + 1}, operand(of), partial(false, step, of));
    }
  }
  // In place, the output may overlap with what is being sent; rank 0's output is its own operand.
  void end(int step) {
    const place own = operand({r}), result = whole(buffer::output);
    if (r == 0) {
      b.recv_reduce_right({1}, own, result);
    } else if (r + 1 < p) {
      b.recv_reduce_left({r - 1}, own, partial(true, step, {r}));
      b.recv(r + 1, partial(false, step, {r}));
      b.reduce(partial(true, step, {r}), partial(false, step, {r}), result);
    } else if (s.in_place) {
      b.recv_reduce_left({r - 1}, own, partial(true, step, {r}));
      b.copy(partial(true, step, {r}), result);
    } else {
      b.recv_reduce_left({r - 1}, own, result);
    }
  }
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, last = p - 2;
  writer w{s, b, p, r, operand_partition(s)};
  if (p == 1) {
    if (!s.in_place) b.copy(w.operand({0}), whole(buffer::output));
    return;
  }
  const auto mark = [&](int step) { return std::clamp(step, 0, last); };
  parts::in_stages(b, 2, {mark(r - 1), mark(r), mark(p - 2 - r), mark(p - 1 - r), last},
                   [&](int step, int by) {
                     w.forward(step, by);
                     w.receive(step, by);
                   });
  w.forward(last, 0);
  w.end(last);
}

}  // namespace tutti::algorithms::reduce_scatter_along
