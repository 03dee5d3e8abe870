// SPDX-License-Identifier: Apache-2.0
//
// Folds p ranks to the largest power of two P' <= p in rank order. The first p - P' groups have two
// ranks, the others have one. The lower rank of a group leads it.
#pragma once

#include <bit>

namespace tutti::patterns {

struct fold {
  int groups;  // P', a power of two
  int pairs;   // number of groups with two ranks

  explicit constexpr fold(int p)
      : groups(static_cast<int>(std::bit_floor(static_cast<unsigned>(p)))), pairs(p - groups) {}

  constexpr int group_of(int rank) const { return rank < 2 * pairs ? rank / 2 : rank - pairs; }
  constexpr int leader_of(int group) const { return group < pairs ? 2 * group : group + pairs; }
  constexpr bool in_pair(int rank) const { return rank < 2 * pairs; }
  constexpr bool is_follower(int rank) const { return rank < 2 * pairs && rank % 2 == 1; }
};

}  // namespace tutti::patterns
