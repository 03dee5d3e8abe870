// SPDX-License-Identifier: Apache-2.0
//
// allgather/pat
//
// Parallel aggregated trees: a binomial tree from every rank, shifted by that rank. A message
// contains at most A blocks. So the first hops, which are long, double the blocks of each rank
// until A trees run side by side. The rest of each tree proceeds one edge at a time, for A sources
// together. Longer edges come first: blocks stay in the result, so that a depth-first order would
// save nothing. The rounds of one hop length form a loop.
//
// Source:       Jeaugey 2025
// Reach:        hops around
// Parameters:   aggregate = 16 in 1..65536: blocks of one message, rounded down to a power of two
// Rounds:       log2(min(pow(2, floor_log(2, aggregate)), pow(2, ceil_log(2, p))))
//                 + min(p, pow(2, ceil_log(2, p))
//                          / min(pow(2, floor_log(2, aggregate)), pow(2, ceil_log(2, p)))) - 1
// Bytes:        b * (p - 1)
// Scratch:      2 * b * min(aggregate, p)
// Good for:     small and medium blocks on many ranks, whatever their number: the size of messages
//                 is bounded
#include "schedule/patterns/pat.hpp"

#include "algorithms/parts/strided.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_pat {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const patterns::pat trees(p, s.of(algorithm_parameter::aggregate));
  int max_blocks = 1;
  // Forwards n blocks over a hop, which are `stride` apart. The first has the offset `from`, which
  // grows by `per_turn` in each iteration of a loop.
  const auto forward = [&](int hop, int from, int per_turn, int stride, int n) {
    max_blocks = std::max(max_blocks, n);
    parts::exchange_strided(b, p, (r + hop) % p, {r - from, -stride, n, -per_turn}, (r - hop + p) % p,
                            {r - hop - from, -stride, n, -per_turn});
  };
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r));
  for (int hop = trees.distance * trees.trees_per_message / 2; hop >= trees.distance; hop /= 2)
    forward(hop, 0, 0, 2 * hop, (p + hop - 1) / (2 * hop));
  // The offsets w = hop, 3 * hop, 5 * hop ... are reached together with w + distance, w + 2 *
  // distance ... The first of these w have one offset more.
  for (int hop = trees.distance / 2; hop > 0; hop /= 2) {
    const int turns = trees.distance / (2 * hop), min_blocks = p / trees.distance;
    const int longer = (p % trees.distance + hop - 1) / (2 * hop);
    if (longer > 0) b.loop(longer, [&] { forward(hop, 0, 2 * hop, trees.distance, min_blocks + 1); });
    if (turns > longer && min_blocks > 0)
      b.loop(turns - longer, [&] { forward(hop, longer * 2 * hop, 2 * hop, trees.distance, min_blocks); });
  }
  if (max_blocks > 1) b.scratch(buffer::scratch0, 2 * max_blocks);
}

}  // namespace tutti::algorithms::allgather_pat
