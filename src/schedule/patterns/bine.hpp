// SPDX-License-Identifier: Apache-2.0
//
// Rank arithmetic of Bine patterns: binomial trees and butterflies whose hops alternate in
// direction. They reach as many ranks as a binomial tree, with hops two thirds as long. All
// functions assume p = 2^bits positions; `tree` folds other numbers of ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "schedule/patterns/fold.hpp"

namespace tutti::patterns::bine {

// --- numbers to the base -2
inline constexpr std::uint32_t odd_bits = 0xAAAAAAAAu;  // the bits whose weights are negative

constexpr std::uint32_t negabinary(int x) { return (static_cast<std::uint32_t>(x) + odd_bits) ^ odd_bits; }
constexpr int from_negabinary(std::uint32_t y) { return static_cast<int>((y ^ odd_bits) - odd_bits); }

constexpr int wrapped(int x, int p) { return (x % p + p) % p; }

// --- the butterfly

/// The hop of round j: 1, -1, 3, -5, 11, -21 ... Even ranks move by it, odd ranks by its negative.
constexpr int hop(int j) {
  const std::int64_t power = std::int64_t{1} << (j + 1);
  return static_cast<int>((1 - (j % 2 == 0 ? -power : power)) / 3);
}

/// The partner of `rank` in round j, for any even p.
constexpr int partner(int rank, int j, int p) {
  return wrapped(rank % 2 == 0 ? rank + hop(j) : rank - hop(j), p);
}

constexpr int reversed(std::uint32_t x, int bits) {
  std::uint32_t r = 0;
  for (int i = 0; i < bits; ++i) r |= ((x >> i) & 1u) << (bits - 1 - i);
  return static_cast<int>(r);
}

/// The position of a rank in the order in which halving yields contiguous halves. Partners of round
/// j agree in the upper j bits and differ in the next bit. The function is a permutation of 0 ..
/// 2^bits - 1.
constexpr int halving_position(int rank, int bits) {
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  const std::uint32_t h = negabinary(rank % 2 != 0 ? rank : -rank) & mask;
  return reversed(h ^ (h >> 1), bits);
}
constexpr int rank_at_halving_position(int position, int bits) {
  auto h = static_cast<std::uint32_t>(reversed(static_cast<std::uint32_t>(position), bits));
  for (int i = 1; i < bits; i *= 2) h ^= h >> i;
  const int x = from_negabinary(h);
  return wrapped(x % 2 != 0 ? x : -x, 1 << bits);
}

// --- the tree in which distances halve from the root, position 0

/// Rounds are numbered in the order of a gather, from 0. Position v receives from its children in
/// rounds 0 .. send_round - 1 and sends to its parent in round `send_round`. The root receives in
/// all rounds. A broadcast goes the other way.
constexpr int send_round(int v, int bits) {
  const std::uint32_t label = negabinary(v);
  const int equal = label % 2 == 0 ? std::countr_zero(label) : std::countr_one(label);
  return v == 0 ? bits : std::min(equal, bits) - 1;
}

/// For k < send_round: the child of round k. For k = send_round: the parent.
constexpr int tree_partner(int v, int k, int bits) {
  return wrapped(from_negabinary(negabinary(v) ^ ((std::uint32_t{2} << k) - 1)), 1 << bits);
}

/// Before round k, position v holds the data of 2^k positions: those from the returned one upwards,
/// modulo p.
constexpr int first_received(int v, int k, int bits) {
  const std::uint32_t below = (v % 2 == 0 ? odd_bits : ~odd_bits) & ((std::uint32_t{1} << k) - 1);
  return wrapped(v - static_cast<int>(below), 1 << bits);
}
/// Returns whether the positions that v receives in round k lie above those that it holds;
/// otherwise they lie below.
constexpr bool receives_above(int v, int k) { return (v % 2 == 0) == (k % 2 == 0); }

/// The top group of a tree that combines in rank order: with this top no interval wraps around.
constexpr int in_order_top(int bits) { return static_cast<int>(odd_bits & ((std::uint32_t{1} << bits) - 1)); }

/// The tree over any number of ranks. Position v is group v + top of the fold. The lower rank
/// represents a group of two; the root represents its own group.
struct tree {
  fold folded;
  int p, root, top, bits;

  constexpr tree(int ranks, int tree_root, int tree_top)
      : folded(ranks),
        p(ranks),
        root(tree_root),
        top(tree_top),
        bits(std::countr_zero(static_cast<unsigned>(folded.groups))) {}
  /// The tree with the root's group at the top.
  constexpr tree(int ranks, int tree_root) : tree(ranks, tree_root, fold(ranks).group_of(tree_root)) {}

  constexpr int group_of(int v) const { return (v + top) & (folded.groups - 1); }
  constexpr int rank_of(int v) const {
    const int g = group_of(v);
    return g == folded.group_of(root) ? root : folded.leader_of(g);
  }
  constexpr int position_of(int rank) const { return (folded.group_of(rank) - top) & (folded.groups - 1); }
  constexpr bool represents(int rank) const { return rank_of(position_of(rank)) == rank; }
  /// The other member of a group of two.
  static constexpr int other(int rank) { return rank ^ 1; }

  constexpr int send_round(int v) const { return bine::send_round(v, bits); }
  constexpr int rank_of_partner(int v, int k) const { return rank_of(tree_partner(v, k, bits)); }

  /// The ranks whose data v holds before round k: `count` ranks from `first` upwards, modulo p.
  struct interval {
    int first, count;
  };
  constexpr interval ranks_of(int v, int k) const {
    const int from = group_of(first_received(v, k, bits)), to = from + (1 << k);
    const int first = folded.leader_of(from);
    return {first, to <= folded.groups ? folded.leader_of(to) - first
                                       : p - first + folded.leader_of(to - folded.groups)};
  }
};

}  // namespace tutti::patterns::bine
