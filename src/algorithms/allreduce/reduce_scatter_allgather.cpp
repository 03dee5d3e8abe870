// SPDX-License-Identifier: Apache-2.0
//
// allreduce/reduce_scatter_allgather
//
// The number of ranks is written as a product of factors of at most k; where it is none, ranks are folded to
// the greatest number below that is one, neighbours together. In each round as many groups as a factor says
// cut what they are responsible for into so many parts, exchange all of them at the same time, and each
// combines the operands of its part in the order of the ranks. At the end the parts are gathered the same way
// back.
//
// Source:       Kolmakov, Zhang 2020; with two everywhere Rabenseifner 2004
// Parameters:   k = 4 in 2..16: the greatest factor, one more than the messages of a rank under way together
// Rounds:       <= 2 * (k - 1) * log(k, p) + 2
// Bytes:        <= 2 * n * (p - 1) / p + n
// Scratch:      n * (k - 2) / k
// Good for:     vectors of middle length
#include <algorithm>
#include <vector>

#include "algorithms/parts/folding.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/patterns/factors.hpp"

namespace tutti::algorithms::allreduce_reduce_scatter_allgather {

namespace {

place part(buffer which, int first, int n) { return blocks(which, first, n, table::split); }

/// What a group is responsible for, and the groups that share it: `factor` of them, `distance` apart.
struct round_of_groups {
  const patterns::factors& f;
  int group, factor, distance;
  int low, each;  // the first of all parts, how many each of the groups is to get

  int digit() const { return group / distance % factor; }
  int rank_of(int j) const { return f.leader_of(group + (j - digit()) * distance); }
  int first_of(int j) const { return low + j * each; }
  int own() const { return first_of(digit()); }
  /// The member so far above; below 0 the same from the other end.
  int away(int t) const { return (digit() + t + factor) % factor; }
};

/// Combines beginning with a neighbour, which the own operand meets where it stands; the others wait in slots
/// as long as the own part, as word 0 says.
void reduce_scatter(builder& b, const round_of_groups& r, buffer held) {
  const int digit = r.digit(), neighbour = digit > 0 ? digit - 1 : 1;
  const place result = part(buffer::output, r.own(), r.each);
  const auto waiting = [&](int j) {
    const int slot = j - (j > digit ? 1 : 0) - (j > neighbour ? 1 : 0);
    return block(buffer::scratch0, slot, table::padded);
  };
  if (r.factor > 2) {
    b.measure(result, word(0));
    b.reserve(blocks(buffer::scratch0, 0, r.factor - 2, table::padded));
  }
  for (int t = 1; t < r.factor; ++t) {
    const int to = r.away(t), from = r.away(-t);
    b.send(r.rank_of(to), part(held, r.first_of(to), r.each));
    if (from == neighbour)
      b.recv_reduce(r.rank_of(from), from < digit, part(held, r.own(), r.each), result);
    else
      b.recv(r.rank_of(from), waiting(from));
  }
  for (int j = neighbour - 1; j >= 0; --j)
    if (j != digit) b.reduce(waiting(j), result, result);
  for (int j = std::max(digit, neighbour) + 1; j < r.factor; ++j) b.reduce(result, waiting(j), result);
  b.round();
}

void allgather(builder& b, const round_of_groups& r) {
  for (int t = 1; t < r.factor; ++t) {
    const int to = r.away(t), from = r.away(-t);
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
  if (parts::follow(b, f, s.rank)) return;
  const place operand = parts::take_in_follower(b, f, s.rank, buffer::output);

  b.split_into(f.groups);
  if (f.most() > 2) b.words(1, 0);
  std::vector<round_of_groups> rounds;
  for (int low = 0, n = f.groups, distance = 1; const int factor : f.all) {
    n /= factor;
    rounds.push_back({f, f.group_of(s.rank), factor, distance, low, n});
    reduce_scatter(b, rounds.back(), rounds.size() > 1 ? buffer::output : operand.where);
    low = rounds.back().own();
    distance *= factor;
  }
  for (auto r = rounds.rbegin(); r != rounds.rend(); ++r) allgather(b, *r);
  parts::answer_follower(b, f, s.rank);
}

}  // namespace tutti::algorithms::allreduce_reduce_scatter_allgather
