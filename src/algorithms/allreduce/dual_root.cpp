// SPDX-License-Identifier: Apache-2.0
//
// allreduce/dual_root
//
// Two binary trees, over the lower and the upper half of the ranks, reduce the vector segment by
// segment. The roots exchange their partial results and send the result down. So in each round of
// the pipeline a rank exchanges a new segment for the result of an older one. It does so with each
// child, and with its parent or the other root. A subtree precedes its root in rank order and the
// nearer one is received first, so operands are combined in rank order on arrival. A root needs a
// second buffer, because the other root reads its partial result.
//
// Source:       Traeff 2021
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       <= p == 1 ? 0 : 4 * floor_log(2, ceil(p / 2)) + 1 + min(ceil(p / 2), 3) * (segments
//                 - 1)
// Bytes:        p == 1 ? 0 : n * min(ceil(p / 2), 3)
// Scratch:      p == 1 ? 0 : n
// Good for:     long vectors on many ranks, also with operators that do not commute
#include "schedule/algorithm.hpp"
#include "schedule/patterns/post_order.hpp"

namespace tutti::algorithms::allreduce_dual_root {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const int cut = (s.size + 1) / 2;
  const bool lower = s.rank < cut;
  const auto t =
      lower ? patterns::post_order(s.rank, 0, cut - 1) : patterns::post_order(s.rank, cut, s.size - 1);
  const int other_root = lower ? s.size - 1 : cut - 1;
  const bool is_root = t.parent < 0, is_leaf = t.first < 0;
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  if (is_root && (!is_leaf || s.in_place)) b.scratch(buffer::scratch0, 1);
  const auto of = [](buffer which, int behind) { return segment(whole(which), at(-behind, 1)); };
  b.loop({t.depth + 1, 1}, [&] {
    place own = of(buffer::input, 0);
    const place sum = of(is_root ? buffer::scratch0 : buffer::output, 0), result = of(buffer::output, 0);
    for (const int child : {t.second, t.first}) {
      if (child < 0) continue;
      b.send(child, of(buffer::output, t.depth + 1));
      b.recv_reduce_left({child}, own, sum);
      b.round();
      own = sum;
    }
    if (!is_root) {
      b.exchange(t.parent, own, t.parent, of(buffer::output, t.depth));
    } else if (is_leaf && s.in_place) {
      // The own operand, which the other root reads, is in the buffer of the result.
      b.exchange(other_root, own, other_root, sum);
      b.reduce(lower ? own : sum, lower ? sum : own, result);
    } else {
      b.send(other_root, own);
      b.recv_reduce(other_root, !lower, own, result);
    }
  });
}

}  // namespace tutti::algorithms::allreduce_dual_root
