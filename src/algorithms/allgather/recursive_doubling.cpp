// SPDX-License-Identifier: Apache-2.0
//
// allgather/recursive_doubling
//
// Groups of D consecutive ranks know all of each other's blocks. Each rank exchanges them with its
// counterpart in the neighbouring group, which makes one group of both, from D = 1 until all ranks are one.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005
// Restrictions: power_of_two
// Rounds:       log2(p)
// Bytes:        b * (p - 1)
// Scratch:      0
// Good for:     small and middling blocks: few messages, and nothing is copied
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_recursive_doubling {

void write(const shape& s, builder& b) {
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.rank));
  for (int group = 1; group < s.size; group *= 2) {
    const int partner = s.rank ^ group;
    b.exchange(partner, blocks(buffer::output, s.rank & -group, group), partner,
               blocks(buffer::output, partner & -group, group));
    b.round();
  }
}

}  // namespace tutti::algorithms::allgather_recursive_doubling
