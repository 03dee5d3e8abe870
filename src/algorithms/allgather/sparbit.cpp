// SPDX-License-Identifier: Apache-2.0
//
// allgather/sparbit
//
// A binomial tree from every rank, the longest hop first. With hops of 2^i a rank forwards its own
// block and those that it has received, which are 2^(i+1) apart; then it halves the hop. Most data
// travel between neighbors, while Bruck's algorithm and recursive doubling send most data over the
// longest hop. The blocks of a round are packed into one message.
//
// Source:       Loch, Koslovski 2021
// Reach:        hops around
// Rounds:       ceil_log(2, p)
// Bytes:        b * (p - 1)
// Scratch:      p < 4 ? 0 : 2 * b * floor(p / 2)
// Good for:     small and medium blocks, any number of ranks; long messages travel short distances
#include <bit>

#include "algorithms/parts/strided.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_sparbit {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r));
  if (p > 3) b.scratch(buffer::scratch0, p / 2 * 2);
  for (int hop = static_cast<int>(std::bit_ceil(static_cast<unsigned>(p))) / 2; hop > 0; hop /= 2) {
    const int n = (p - hop + 2 * hop - 1) / (2 * hop);
    parts::exchange_strided(b, p, (r + hop) % p, {r, -2 * hop, n}, (r - hop + p) % p, {r - hop, -2 * hop, n});
  }
}

}  // namespace tutti::algorithms::allgather_sparbit
