// SPDX-License-Identifier: Apache-2.0
//
// allgather/hops, allgatherv/hops
//
// Each rank knows the blocks of the ranks at distances below D on both sides. To the rank D above
// it sends the blocks of the D ranks up to itself. To the rank D below it sends the blocks of the D
// ranks from itself on. Then it knows the blocks at distances below 2 D. No message wraps around
// the ends. Blocks of the vector form travel without gaps and are copied to the output at the end;
// blocks of equal length are received there.
//
// Source:       LWGRP's allgather over a logchain for the hops; Bruck et al. 1997 in both
//                 directions
// Reach:        hops
// Rounds:       p == 1 ? 0 : 2 * ceil_log(2, p) - 1
// Bytes:        <= 2 * (n - b)
// Scratch:      p > 1 ? n + p * word : 0
// Good for:     small blocks, and groups whose members know only those 2^d away
#include <algorithm>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_hops {

namespace {

// The blocks of ranks low .. high - 1, in the buffer from which they are forwarded.
place blocks_of(const shape& s, int low, int high) {
  return s.what == collective::allgather ? blocks(buffer::output, low, high - low)
                                         : dense(buffer::scratch0, low, high - low);
}

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const bool varying_lengths = s.what == collective::allgatherv && p > 1;
  const auto result = [&](index i) { return block(buffer::output, i, result_partition(s)); };
  if (!s.in_place) b.copy(whole(buffer::input), result(index{r}));
  if (varying_lengths) {
    // Word i is the length of rank i's block.
    b.words(p);
    b.loop(p, [&] { b.measure(result(at(0, 1)), word(at(0, 1))); });
    b.reserve(dense(buffer::scratch0, 0, p));
    b.copy(result(index{r}), blocks_of(s, r, r + 1));
  }
  b.round();
  for (long long distance = 1; distance < p; distance *= 2) {
    const int d = static_cast<int>(distance);
    if (r + d < p) b.send(r + d, blocks_of(s, std::max(0, r - d + 1), r + 1));
    if (r - d >= 0) b.send(r - d, blocks_of(s, r, std::min(r + d, p)));
    if (r - d >= 0) b.recv(r - d, blocks_of(s, std::max(0, r - d - d + 1), r - d + 1));
    if (r + d < p) b.recv(r + d, blocks_of(s, r + d, d > p - r - d ? p : r + d + d));
    b.round();
  }
  if (!varying_lengths) return;
  for (const auto& [low, high] : {std::pair{0, r}, std::pair{r + 1, p}})
    b.loop(high - low, [&] { b.copy(dense(buffer::scratch0, at(low, 1)), result(at(low, 1))); });
}

}  // namespace tutti::algorithms::allgather_hops
