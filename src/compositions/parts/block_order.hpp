// SPDX-License-Identifier: Apache-2.0
//
// Describes the blocks of all ranks without gaps in a given order. It also writes the copies
// between that order and the displacements in a rank's buffer.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

inline std::vector<int> in_order(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

struct block_order {
  std::vector<int> ranks;           ///< by position
  std::vector<std::size_t> counts;  ///< by rank, elements
  std::vector<std::size_t> begins;  ///< by rank, elements before its block
  std::size_t total = 0;
  bool rank_order;  ///< the order is the rank order

  block_order(std::vector<int> positions, std::vector<std::size_t> all_counts)
      : ranks(std::move(positions)),
        counts(std::move(all_counts)),
        begins(counts.size()),
        rank_order(std::is_sorted(ranks.begin(), ranks.end())) {
    for (const int r : ranks) {
      begins[static_cast<std::size_t>(r)] = total;
      total += counts[static_cast<std::size_t>(r)];
    }
  }
  /// Blocks of equal length.
  block_order(std::vector<int> positions, std::size_t count)
      : block_order(positions, std::vector<std::size_t>(positions.size(), count)) {}

  std::size_t begin_of(int rank) const { return begins[static_cast<std::size_t>(rank)]; }
  std::size_t count_of(int rank) const { return counts[static_cast<std::size_t>(rank)]; }
};

/// Returns whether the displacements equal the positions of the blocks in this order.
inline bool displs_match(const block_order& order, const std::vector<std::size_t>& displs) {
  bool all = true;
  for (std::size_t r = 0; r < displs.size(); ++r)
    all = all && (order.counts[r] == 0 || displs[r] == order.begins[r]);
  return all;
}

/// Copies blocks between a dense area in this order and an area in which rank r's block is at
/// displs[r]. `from_dense` is the direction. One copy covers adjacent blocks, or blocks of equal
/// length at equal distances.
inline void copy_blocks(planner& p, const block_order& order, area dense, area blocks,
                        const std::vector<std::size_t>& displs, bool from_dense) {
  const auto emit = [&](copy_step one) {
    if (!from_dense) {
      std::swap(one.from, one.to);
      std::swap(one.from_distance, one.to_distance);
    }
    if (one.n == 0) return;
    if (one.blocks == 1)
      p.copy(one.from, one.to, one.n);
    else
      p.copy(one);
  };
  copy_step open;  // the copy that may still grow
  for (const int r : order.ranks) {
    const std::size_t n = order.count_of(r), at = displs[static_cast<std::size_t>(r)];
    if (n == 0) continue;
    const area from = dense + order.begin_of(r), to = blocks + at;
    const std::size_t last = open.to.offset + (open.blocks - 1) * open.to_distance;
    // adjacent to the block before
    if (open.n != 0 && open.blocks == 1 && to.offset == open.to.offset + open.n) {
      open.n += n;
      continue;
    }
    if (open.n == n && to.offset > last && (open.blocks == 1 || to.offset - last == open.to_distance)) {
      open.from_distance = n;
      open.to_distance = to.offset - last;
      ++open.blocks;
      continue;
    }
    emit(open);
    open = {};
    open.from = from;
    open.to = to;
    open.n = n;
  }
  emit(open);
}

inline std::vector<std::size_t> uniform_counts(int ranks, std::size_t count) {
  return std::vector<std::size_t>(static_cast<std::size_t>(ranks), count);
}
/// Displacements of blocks of `count` elements in rank order.
inline std::vector<std::size_t> uniform_displs(int ranks, std::size_t count) {
  std::vector<std::size_t> all;
  for (int r = 0; r < ranks; ++r) all.push_back(static_cast<std::size_t>(r) * count);
  return all;
}

inline std::vector<std::size_t> vector_of(const counts_view& v, int n) {
  std::vector<std::size_t> all;
  for (int i = 0; i < n; ++i) all.push_back(v[static_cast<std::size_t>(i)]);
  return all;
}

}  // namespace tutti::compositions::parts
