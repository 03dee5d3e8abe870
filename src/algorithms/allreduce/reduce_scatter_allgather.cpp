// SPDX-License-Identifier: Apache-2.0
//
// allreduce/reduce_scatter_allgather
//
// The number of ranks is written as a product of factors of at most k. If this is impossible,
// neighboring ranks are folded to the largest smaller number of groups that is such a product. In
// each round, a set of `factor` groups cuts the part that they own into `factor` parts. They
// exchange all of these at the same time, and each group combines the operands of its part in rank
// order. At the end the parts are gathered in reverse order.
//
// Source:       Kolmakov, Zhang 2020; with all factors 2 Rabenseifner 2004
// Parameters:   k = 4 in 2..16: the largest factor, one more than the number of messages of a rank
//                 in progress
// Rounds:       <= 2 * (k - 1) * log(k, p) + 2
// Bytes:        <= 2 * n * (p - 1) / p + n
// Scratch:      n * (k - 2) / k
// Good for:     vectors of medium length
#include "algorithms/parts/folding.hpp"
#include "algorithms/parts/range_splitting.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_reduce_scatter_allgather {

namespace {

place part(buffer which, int first, int n) { return blocks(which, first, n, partition::split); }

void allgather(builder& b, const parts::splitting_round& r) {
  for (int t = 1; t < r.factor; ++t) {
    const int to = r.member_at(t), from = r.member_at(-t);
    b.exchange(r.rank_of(to), part(buffer::output, r.own(), r.each), r.rank_of(from),
               part(buffer::output, r.first_of(from), r.each));
  }
  b.round();
}

}  // namespace

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::factors f(s.size, s.of(algorithm_parameter::k));
  if (parts::write_follower(b, f, s.rank)) return;
  const place operand = parts::reduce_from_follower(b, f, s.rank, buffer::output);

  b.split_into(f.groups);
  if (f.largest() > 2) b.words(1, 0);
  const auto rounds = parts::splitting_rounds(f, f.group_of(s.rank), true);
  buffer source = operand.where;
  for (const parts::splitting_round& r : rounds) {
    parts::split_range(
        b, r, [&](int first, int n) { return part(source, first, n); }, part(buffer::output, r.own(), r.each),
        buffer::scratch0);
    source = buffer::output;
  }
  for (auto r = rounds.rbegin(); r != rounds.rend(); ++r) allgather(b, *r);
  parts::send_to_follower(b, f, s.rank);
}

}  // namespace tutti::algorithms::allreduce_reduce_scatter_allgather
