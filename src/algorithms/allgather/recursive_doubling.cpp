// SPDX-License-Identifier: Apache-2.0
//
// allgather/recursive_doubling
//
// Each rank in a group of D consecutive ranks knows the blocks of the group. It exchanges them with
// its counterpart in the neighboring group, which merges both groups. D doubles from 1 until one
// group contains all ranks.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005
// Restrictions: power_of_two
// Reach:        hops
// Rounds:       log2(p)
// Bytes:        b * (p - 1)
// Scratch:      0
// Good for:     small and medium blocks: few messages, and no block is copied locally
#include <bit>

#include "algorithms/parts/halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_recursive_doubling {

void write(const shape& s, builder& b) {
  const int bits = std::countr_zero(static_cast<unsigned>(s.size));
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.rank));
  parts::gather_by_halves(
      b, bits, s.rank, [&](int j) { return s.rank ^ 1 << (bits - 1 - j); },
      [](int first, int n) { return blocks(buffer::output, first, n); });
}

}  // namespace tutti::algorithms::allgather_recursive_doubling
