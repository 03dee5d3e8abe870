// SPDX-License-Identifier: Apache-2.0
//
// Who gives which blocks to whom in a reduce-scatter whose partners swing from one side to the other, over
// any even number of ranks. Seen from an even rank, distances to the owner of a block count upwards, from an
// odd one downwards; then all ranks share one table, which says in which round a block at that distance
// leaves. Hops that would bring a block to where it has been already are left out, so each block has one way.
//
// Blocks stand in an order in which what leaves together stands together as far as possible. Of a power of
// two of ranks that is always, and all follows from the numbers; for others it takes O(p) to write down.
#pragma once

#include <bit>
#include <vector>

#include "schedule/patterns/bine.hpp"

namespace tutti::patterns {

class swing {
 public:
  /// Consecutive blocks.
  struct range {
    int first, count;
  };
  using ranges = std::vector<range>;

  /// What a rank gives to its partner and gets from it in each round, where its own block stands, and what it
  /// keeps in round 0 without getting any of it.
  struct traffic {
    std::vector<ranges> given, got;
    ranges untouched;
    int own;
  };

  explicit swing(int ranks)
      : p_(ranks), rounds_(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)))) {
    if (is_regular()) return;
    round_at_.assign(static_cast<std::size_t>(p_), -1);
    round_at_[0] = rounds_;
    std::vector<int> reached{0};
    for (int j = rounds_ - 1; j >= 0; --j)
      for (std::size_t i = 0, known = reached.size(); i < known; ++i) {
        const int d = bine::wrapped(bine::hop(j) - reached[i], p_);
        if (round_at_[static_cast<std::size_t>(d)] >= 0) continue;
        round_at_[static_cast<std::size_t>(d)] = j;
        reached.push_back(d);
      }
    for (int i = 0; i < 1 << rounds_; ++i)
      if (const int owner = bine::rank_at_halving_position(i, rounds_); owner < p_)
        owner_at_.push_back(owner);
  }

  bool is_regular() const { return std::has_single_bit(static_cast<unsigned>(p_)); }
  int rounds() const { return rounds_; }
  int partner(int rank, int round) const { return bine::partner(rank, round, p_); }

  /// Of a regular number: where the block of a rank stands.
  static int regular_block_of(int rank, int ranks) {
    return bine::halving_position(rank, std::countr_zero(static_cast<unsigned>(ranks)));
  }
  /// Of others: whose block stands where.
  const std::vector<int>& owners() const { return owner_at_; }

  traffic of(int rank) const {
    const auto n = static_cast<std::size_t>(rounds_);
    traffic all{std::vector<ranges>(n), std::vector<ranges>(n), {}, 0};
    if (is_regular()) {
      all.own = regular_block_of(rank, p_);
      for (int j = 0, half = p_ / 2; j < rounds_; ++j, half /= 2) {
        const int kept = all.own & -half;
        all.given[static_cast<std::size_t>(j)] = {{kept ^ half, half}};
        all.got[static_cast<std::size_t>(j)] = {{kept, half}};
      }
      return all;
    }
    for (int block = 0; block < p_; ++block) {
      const int owner = owner_at_[static_cast<std::size_t>(block)], leaves = given_in(rank, owner);
      if (owner == rank)
        all.own = block;
      else
        append(all.given[static_cast<std::size_t>(leaves)], block);
      bool touched = leaves == 0;
      for (int j = 0; j < leaves; ++j) {
        if (given_in(partner(rank, j), owner) != j) continue;
        append(all.got[static_cast<std::size_t>(j)], block);
        touched = touched || j == 0;
      }
      if (!touched) append(all.untouched, block);
    }
    return all;
  }

 private:
  int given_in(int rank, int owner) const {
    const int d = rank % 2 == 0 ? owner - rank : rank - owner;
    return round_at_[static_cast<std::size_t>(d < 0 ? d + p_ : d)];
  }
  static void append(ranges& all, int block) {
    if (!all.empty() && all.back().first + all.back().count == block)
      ++all.back().count;
    else
      all.push_back({block, 1});
  }

  int p_, rounds_;
  std::vector<int> round_at_;  // by distance: in which round its block leaves; rounds() at 0
  std::vector<int> owner_at_;  // by block
};

}  // namespace tutti::patterns
