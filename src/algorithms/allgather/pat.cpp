// SPDX-License-Identifier: Apache-2.0
//
// allgather/pat
//
// Parallel aggregated trees: from every rank a binomial tree, shifted by that rank. A message has room for A
// blocks, so the first hops, far ones, double what each rank has until A trees run side by side; the rest of
// each tree is walked one edge at a time, for A sources together. Farther edges come first: blocks are kept
// in the result, so that nothing is gained by walking depth first, and rounds of one hop are a loop.
//
// Source:       Jeaugey 2025
// Reach:        hops around
// Parameters:   aggregate = 16 in 1..65536: blocks of one message, rounded down to a power of two
// Rounds:       log2(min(pow(2, floor_log(2, aggregate)), pow(2, ceil_log(2, p))))
//                 + min(p, pow(2, ceil_log(2, p))
//                          / min(pow(2, floor_log(2, aggregate)), pow(2, ceil_log(2, p)))) - 1
// Bytes:        b * (p - 1)
// Scratch:      2 * b * min(aggregate, p)
// Good for:     small and middling blocks on many ranks, any number: the size of messages is bounded
#include "schedule/patterns/pat.hpp"

#include "algorithms/parts/strided.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_pat {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const patterns::pat trees(p, s.of(algorithm_parameter::aggregate));
  int most = 1;
  // Passes n blocks on over a hop: those at offset `from`, `per_turn` more in each turn of a loop, and at
  // every `stride` above it.
  const auto pass_on = [&](int hop, int from, int per_turn, int stride, int n) {
    most = std::max(most, n);
    parts::exchange_strided(b, p, (r + hop) % p, {r - from, -stride, n, -per_turn}, (r - hop + p) % p,
                            {r - hop - from, -stride, n, -per_turn});
  };
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r));
  for (int hop = trees.distance * trees.together / 2; hop >= trees.distance; hop /= 2)
    pass_on(hop, 0, 0, 2 * hop, (p + hop - 1) / (2 * hop));
  // Offsets w = hop, 3 * hop, 5 * hop ... are reached together with w + distance, w + 2 * distance ..., of
  // which the first w have one more.
  for (int hop = trees.distance / 2; hop > 0; hop /= 2) {
    const int turns = trees.distance / (2 * hop), fewest = p / trees.distance;
    const int longer = (p % trees.distance + hop - 1) / (2 * hop);
    if (longer > 0) b.loop(longer, [&] { pass_on(hop, 0, 2 * hop, trees.distance, fewest + 1); });
    if (turns > longer && fewest > 0)
      b.loop(turns - longer, [&] { pass_on(hop, longer * 2 * hop, 2 * hop, trees.distance, fewest); });
  }
  if (most > 1) b.scratch(buffer::scratch0, 2 * most);
}

}  // namespace tutti::algorithms::allgather_pat
