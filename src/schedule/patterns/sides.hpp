// SPDX-License-Identifier: Apache-2.0
//
// Two groups in one numbering: ranks [0, first) are one, the others the other.
#pragma once

namespace tutti::patterns {

struct sides {
  int rank, size, first;

  constexpr bool in_first() const { return rank < first; }
  constexpr int local_rank() const { return in_first() ? rank : rank - first; }
  constexpr int local_size() const { return in_first() ? first : size - first; }
  constexpr int remote_size() const { return size - local_size(); }
  constexpr int local(int i) const {
    return in_first() ? i : first + i;
  }  ///< rank of the own group's member i
  constexpr int remote(int i) const {
    return in_first() ? first + i : i;
  }  ///< rank of the other group's member i
  constexpr bool beside(int root) const { return (rank < first) == (root < first); }
};

}  // namespace tutti::patterns
