// SPDX-License-Identifier: Apache-2.0
//
// Numbers two groups as one: ranks [0, first) form one group, the other ranks form the other group.
#pragma once

namespace tutti::patterns {

struct sides {
  int rank, size, first;

  constexpr bool in_first() const { return rank < first; }
  constexpr int local_rank() const { return in_first() ? rank : rank - first; }
  constexpr int local_size() const { return in_first() ? first : size - first; }
  constexpr int remote_size() const { return size - local_size(); }
  /// Rank of member i of the local group.
  constexpr int local(int i) const { return in_first() ? i : first + i; }
  /// Rank of member i of the remote group.
  constexpr int remote(int i) const { return in_first() ? first + i : i; }
  constexpr bool contains(int root) const { return (rank < first) == (root < first); }
};

}  // namespace tutti::patterns
