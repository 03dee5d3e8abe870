// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter of a vector with one part for each group of patterns::factors. At the beginning of
// a round, `factor` groups own the same range of parts. They cut it into `factor` ranges and
// exchange all of these at the same time. Each group combines the operands of its range in the
// order of groups.
#pragma once

#include <algorithm>
#include <vector>

#include "schedule/builder.hpp"
#include "schedule/patterns/factors.hpp"

namespace tutti::parts {

/// One round for one group. The groups of a set are `distance` apart.
struct splitting_round {
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

/// The rounds of a group. If the nearest groups exchange first, operands stay in rank order, and
/// the number of the part that a group ends with has the digits of the group in reverse order
/// (splitting_group). If the farthest do, group g ends with part g.
inline std::vector<splitting_round> splitting_rounds(const patterns::factors& f, int group,
                                                     bool nearest_first) {
  std::vector<splitting_round> all;
  int low = 0, rest = f.groups, distance = 1;
  for (const int factor : f.all) {
    rest /= factor;
    all.push_back({f, group, factor, nearest_first ? distance : rest, low, rest});
    low = all.back().own();
    distance *= factor;
  }
  return all;
}

/// The group that ends with this part if the nearest groups exchange first.
inline int splitting_group(const patterns::factors& f, int part) {
  int group = 0, rest = f.groups, distance = 1;
  for (const int factor : f.all) {
    rest /= factor;
    group += part / rest % factor * distance;
    distance *= factor;
  }
  return group;
}

/// Writes a round. operand(first, n) is the place of n parts, which is only read. The data of an
/// adjacent group are received directly into the result. Those of the others wait in `slots`. Word
/// 0, which must be the width of slots, becomes their length, that of the own range.
template <class Operand>
void split_range(builder& b, const splitting_round& r, Operand&& operand, place result, buffer slots) {
  const int digit = r.digit(), neighbor = digit > 0 ? digit - 1 : 1;
  const place own = operand(r.own(), r.each);
  const auto waiting = [&](int j) {
    return block(slots, j - (j > digit ? 1 : 0) - (j > neighbor ? 1 : 0), partition::padded);
  };
  if (r.factor > 2) {
    b.measure(own, word(0));
    b.reserve(blocks(slots, 0, r.factor - 2, partition::padded));
  }
  for (int t = 1; t < r.factor; ++t) {
    const int to = r.member_at(t), from = r.member_at(-t);
    b.send(r.rank_of(to), operand(r.first_of(to), r.each));
    if (from == neighbor)
      b.recv_reduce(r.rank_of(from), from < digit, own, result);
    else
      b.recv(r.rank_of(from), waiting(from));
  }
  for (int j = neighbor - 1; j >= 0; --j)
    if (j != digit) b.reduce(waiting(j), result, result);
  for (int j = std::max(digit, neighbor) + 1; j < r.factor; ++j) b.reduce(result, waiting(j), result);
  b.round();
}

}  // namespace tutti::parts
