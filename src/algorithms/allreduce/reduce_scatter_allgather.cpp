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
#include <algorithm>
#include <vector>

#include "algorithms/parts/folding.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/factors.hpp"

namespace tutti::algorithms::allreduce_reduce_scatter_allgather {

namespace {

place part(buffer which, int first, int n) { return blocks(which, first, n, partition::split); }

/// The part that a group owns at the beginning of a round, and the groups that divide it: `factor`
/// groups, `distance` apart.
struct round_of_groups {
  const patterns::factors& f;
  int group, factor, distance;
  int low, each;  // the first part; number of parts that each of the groups receives

  int digit() const { return group / distance % factor; }
  int rank_of(int j) const { return f.leader_of(group + (j - digit()) * distance); }
  int first_of(int j) const { return low + j * each; }
  int own() const { return first_of(digit()); }
  /// The member that is t above this one, modulo `factor`; t may be negative.
  int member_at(int t) const { return (digit() + t + factor) % factor; }
};

/// Receives the data of an adjacent group directly into the result. The data of the others wait in
/// slots; word 0 is the length of a slot, that of the own part.
void reduce_scatter(builder& b, const round_of_groups& r, buffer source) {
  const int digit = r.digit(), neighbor = digit > 0 ? digit - 1 : 1;
  const place result = part(buffer::output, r.own(), r.each);
  const auto waiting = [&](int j) {
    const int slot = j - (j > digit ? 1 : 0) - (j > neighbor ? 1 : 0);
    return block(buffer::scratch0, slot, partition::padded);
  };
  if (r.factor > 2) {
    b.measure(result, word(0));
    b.reserve(blocks(buffer::scratch0, 0, r.factor - 2, partition::padded));
  }
  for (int t = 1; t < r.factor; ++t) {
    const int to = r.member_at(t), from = r.member_at(-t);
    b.send(r.rank_of(to), part(source, r.first_of(to), r.each));
    if (from == neighbor)
      b.recv_reduce(r.rank_of(from), from < digit, part(source, r.own(), r.each), result);
    else
      b.recv(r.rank_of(from), waiting(from));
  }
  for (int j = neighbor - 1; j >= 0; --j)
    if (j != digit) b.reduce(waiting(j), result, result);
  for (int j = std::max(digit, neighbor) + 1; j < r.factor; ++j) b.reduce(result, waiting(j), result);
  b.round();
}

void allgather(builder& b, const round_of_groups& r) {
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
  std::vector<round_of_groups> rounds;
  for (int low = 0, n = f.groups, distance = 1; const int factor : f.all) {
    n /= factor;
    rounds.push_back({f, f.group_of(s.rank), factor, distance, low, n});
    reduce_scatter(b, rounds.back(), rounds.size() > 1 ? buffer::output : operand.where);
    low = rounds.back().own();
    distance *= factor;
  }
  for (auto r = rounds.rbegin(); r != rounds.rend(); ++r) allgather(b, *r);
  parts::send_to_follower(b, f, s.rank);
}

}  // namespace tutti::algorithms::allreduce_reduce_scatter_allgather
