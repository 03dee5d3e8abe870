// SPDX-License-Identifier: Apache-2.0
#include "proof/block_rule.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::proof {
namespace {

bool pseudorandom_below(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
  x ^= x >> 31;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  return x % 64 < limit;
}

// Of 64 pairs, so many are edges of the pseudorandom graph: none above 256 ranks.
unsigned random_share(int ranks) { return 64 / static_cast<unsigned>(std::max(2, ranks / 4)); }

bool is_edge(const case_options& w, int from, int to) {
  if (w.graph == 0) return to == (from + 1) % w.ranks || from == (to + 1) % w.ranks;
  if (w.graph == 1) return from == 0 || to == 0;
  return pseudorandom_below(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
                            random_share(w.ranks));
}

std::size_t block_of(const case_options& w, int from, int to) {
  if (w.blocks == blocks_are::even || w.count == 0) return w.count;
  return (1 + static_cast<std::size_t>(from) * 3 + static_cast<std::size_t>(to) * 5) % (w.count + 1);
}

// All other ends of edges at `rank`, ascending. Only the pseudorandom graph needs a search.
template <class Edge>
std::vector<int> ends_of_edges(const case_options& w, int rank, Edge&& edge) {
  std::vector<int> all;
  if (w.graph == 0) {
    all = {(rank + 1) % w.ranks, (rank + w.ranks - 1) % w.ranks};
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  } else if (w.graph == 1 && rank != 0) {
    all = {0};
  } else if (w.graph == 1 || random_share(w.ranks) != 0) {
    for (int other = 0; other < w.ranks; ++other)
      if (edge(other)) all.push_back(other);
  }
  return all;
}

abstract_call head_of(const case_options& w) {
  abstract_call p;
  p.what = w.what;
  p.ranks = w.ranks;
  p.root = is_rooted(w.what) ? w.root : 0;
  p.in_place = w.in_place;
  p.ordered = w.ordered;
  p.parameter_values = w.parameter_values;
  p.element_bytes = w.element_bytes;
  p.first_group = w.first_group;
  return p;
}

}  // namespace

block_rule::block_rule(const case_options& w) : options_(w), head_(head_of(w)) {
  if (w.what != collective::reduce_scatter || w.first_group == 0 || w.blocks == blocks_are::even) return;
  // In an inter-group call, both groups have operands of the same length, each divided among its
  // own members.
  std::size_t sums[2] = {};
  for (int r = 0; r < w.ranks; ++r) sums[r < w.first_group ? 0 : 1] += block_of(w, r, 2);
  for (const int group : {0, 1}) padding_[group] = std::max(sums[0], sums[1]) - sums[group];
}

bool block_rule::has_table(side which, int rank) const {
  switch (options_.what) {
    case collective::gatherv:
    case collective::allgatherv:
      return which == side::out && head_.has_result(rank);
    case collective::scatterv:
      return which == side::in && rank == head_.root;
    case collective::reduce_scatter:
      return which == side::in;
    case collective::alltoallv:
    case collective::alltoallw:
      return which == side::out || !options_.in_place;
    case collective::neighbor_allgatherv:
      return which == side::out;
    case collective::neighbor_alltoallv:
      return true;
    default:
      return false;
  }
}

std::vector<int> block_rule::block_owners(side which, int rank) const {
  if (!has_table(which, rank)) return {};
  if (is_neighborhood(options_.what)) return which == side::in ? destinations(rank) : sources(rank);
  const abstract_call::range group = owner_range(which, rank);
  std::vector<int> all(static_cast<std::size_t>(group.size()));
  std::iota(all.begin(), all.end(), group.first);
  return all;
}

abstract_call::range block_rule::owner_range(side which, int rank) const {
  if (!has_table(which, rank)) return {0, 0};
  return options_.what == collective::reduce_scatter ? head_.local_group(rank) : head_.remote_group(rank);
}

std::size_t block_rule::length(side which, int rank, int owner) const {
  const case_options& w = options_;
  switch (w.what) {
    case collective::gatherv:
    case collective::allgatherv:
    case collective::neighbor_allgatherv:
      return block_of(w, owner, 0);
    case collective::scatterv:
      return block_of(w, owner, 1);
    case collective::reduce_scatter: {
      const abstract_call::range group = head_.local_group(owner);
      if (w.first_group == 0) return block_of(w, owner, 2);
      if (w.blocks == blocks_are::even) return w.count * static_cast<std::size_t>(w.ranks - group.size());
      return block_of(w, owner, 2) + (owner + 1 == group.last ? padding_[group.first == 0 ? 0 : 1] : 0);
    }
    default:
      if ((w.what == collective::alltoallv || w.what == collective::alltoallw) && w.in_place)
        return block_of(w, std::min(rank, owner), std::max(rank, owner));
      return which == side::in ? block_of(w, rank, owner) : block_of(w, owner, rank);
  }
}

std::size_t block_rule::count(int rank) const {
  const case_options& w = options_;
  switch (w.what) {
    case collective::barrier:
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::neighbor_alltoallv:
      return 0;
    case collective::gatherv:
    case collective::allgatherv:
      return head_.has_operand(rank) ? block_of(w, rank, 0) : 0;
    case collective::neighbor_allgatherv:
      return block_of(w, rank, 0);
    case collective::scatterv:
      return head_.has_result(rank) ? block_of(w, rank, 1) : 0;
    case collective::reduce_scatter:
      return length(side::in, rank, rank);
    case collective::reduce_scatter_block:
      return w.count * (w.first_group == 0 ? 1 : static_cast<std::size_t>(head_.remote_group(rank).size()));
    default:
      return w.count;
  }
}

// Lists of neighbors need not be sorted.
std::vector<int> block_rule::sources(int rank) const {
  std::vector<int> all =
      ends_of_edges(options_, rank, [&](int other) { return is_edge(options_, other, rank); });
  if (rank % 2 == 0) std::reverse(all.begin(), all.end());
  return all;
}

std::vector<int> block_rule::destinations(int rank) const {
  return ends_of_edges(options_, rank, [&](int other) { return is_edge(options_, rank, other); });
}

}  // namespace tutti::proof
