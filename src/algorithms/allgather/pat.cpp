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
// Parameters:   aggregate = 16 in 1..65536: blocks of one message, rounded down to a power of two
// Rounds:       log2(min(pow(2, floor_log(2, aggregate)), pow(2, ceil_log(2, p))))
//                 + min(p, pow(2, ceil_log(2, p))
//                          / min(pow(2, floor_log(2, aggregate)), pow(2, ceil_log(2, p)))) - 1
// Bytes:        b * (p - 1)
// Scratch:      2 * b * min(aggregate, p)
// Good for:     small and middling blocks on many ranks, any number: the size of messages is bounded
#include <bit>

#include "algorithms/parts/strided.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_pat {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const int all = static_cast<int>(std::bit_ceil(static_cast<unsigned>(p)));
  const int trees =
      std::min(static_cast<int>(std::bit_floor(s.knobs[static_cast<std::size_t>(knob::aggregate)])), all);
  const int apart = all / trees;  // from one tree's source to the next
  int most = 1;
  const auto hop = [&](int distance, int turn, int per_turn, int stride, int n) {
    most = std::max(most, n);
    parts::exchange_strided(b, p, (r + distance) % p, {r - turn, -stride, n, -per_turn},
                            (r - distance + p) % p, {r - distance - turn, -stride, n, -per_turn});
  };
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r));
  for (int d = all / 2; d >= apart && d > 0; d /= 2) hop(d, 0, 0, 2 * d, (p - d + 2 * d - 1) / (2 * d));
  // Blocks are passed on to distance w = d, 3d, 5d ... from the source, and as far from each of the other
  // trees' sources: p / apart of them, and one more where that is still on the ring.
  for (int d = apart / 2; d > 0; d /= 2) {
    const int turns = apart / (2 * d), sources = p / apart, longer = (p % apart + d - 1) / (2 * d);
    if (longer > 0) b.loop(longer, [&] { hop(d, 0, 2 * d, apart, sources + 1); });
    if (turns > longer && sources > 0)
      b.loop(turns - longer, [&] { hop(d, longer * 2 * d, 2 * d, apart, sources); });
  }
  if (most > 1) b.scratch(buffer::scratch0, 2 * most);
}

}  // namespace tutti::algorithms::allgather_pat
