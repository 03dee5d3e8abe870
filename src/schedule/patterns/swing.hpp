// SPDX-License-Identifier: Apache-2.0
//
// Computes which blocks partners exchange in a reduce-scatter whose partners alternate between both
// sides, for any even number of ranks. An even rank counts distances to the owner of a block
// upwards, an odd rank downwards. With this rule one table serves all ranks: it states in which
// round a block at a given distance leaves. Hops that would bring a block to a rank that it has
// visited are omitted. So each block takes one path.
//
// Blocks are ordered so that blocks that leave together are adjacent as far as possible. For a
// power of two they always are, and no table is needed. For other numbers the tables take O(p).
#pragma once

#include <bit>
#include <vector>

#include "schedule/patterns/bine.hpp"

namespace tutti::patterns {

class swing {
 public:
  /// A range of consecutive blocks.
  struct range {
    int first, count;
  };
  using ranges = std::vector<range>;

  /// The blocks that a rank sends to and receives from its partner in each round, and the position
  /// of its own block. `untouched` are the blocks that it keeps in round 0 and does not receive in
  /// that round.
  struct traffic {
    std::vector<ranges> sent, received;
    ranges untouched;
    int own;
  };

  explicit swing(int ranks)
      : p_(ranks), rounds_(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)))) {
    if (is_regular()) return;
    send_round_at_.assign(static_cast<std::size_t>(p_), -1);
    send_round_at_[0] = rounds_;
    std::vector<int> reached{0};
    for (int j = rounds_ - 1; j >= 0; --j)
      for (std::size_t i = 0, known = reached.size(); i < known; ++i) {
        const int d = bine::wrapped(bine::hop(j) - reached[i], p_);
        if (send_round_at_[static_cast<std::size_t>(d)] >= 0) continue;
        send_round_at_[static_cast<std::size_t>(d)] = j;
        reached.push_back(d);
      }
    for (int i = 0; i < 1 << rounds_; ++i)
      if (const int owner = bine::rank_at_halving_position(i, rounds_); owner < p_)
        owner_at_.push_back(owner);
  }

  bool is_regular() const { return std::has_single_bit(static_cast<unsigned>(p_)); }
  int rounds() const { return rounds_; }
  int partner(int rank, int round) const { return bine::partner(rank, round, p_); }

  /// For a power of two: the position of a rank's block.
  static int regular_block_of(int rank, int ranks) {
    return bine::halving_position(rank, std::countr_zero(static_cast<unsigned>(ranks)));
  }
  /// For other numbers: the owner of the block at each position.
  const std::vector<int>& owners() const { return owner_at_; }

  traffic of(int rank) const {
    const auto n = static_cast<std::size_t>(rounds_);
    traffic all{std::vector<ranges>(n), std::vector<ranges>(n), {}, 0};
    if (is_regular()) {
      all.own = regular_block_of(rank, p_);
      for (int j = 0, half = p_ / 2; j < rounds_; ++j, half /= 2) {
        const int kept = all.own & -half;
        all.sent[static_cast<std::size_t>(j)] = {{kept ^ half, half}};
        all.received[static_cast<std::size_t>(j)] = {{kept, half}};
      }
      return all;
    }
    for (int block = 0; block < p_; ++block) {
      const int owner = owner_at_[static_cast<std::size_t>(block)], leaves = send_round_of(rank, owner);
      if (owner == rank)
        all.own = block;
      else
        append(all.sent[static_cast<std::size_t>(leaves)], block);
      bool touched = leaves == 0;
      for (int j = 0; j < leaves; ++j) {
        if (send_round_of(partner(rank, j), owner) != j) continue;
        append(all.received[static_cast<std::size_t>(j)], block);
        touched = touched || j == 0;
      }
      if (!touched) append(all.untouched, block);
    }
    return all;
  }

 private:
  int send_round_of(int rank, int owner) const {
    const int d = rank % 2 == 0 ? owner - rank : rank - owner;
    return send_round_at_[static_cast<std::size_t>(d < 0 ? d + p_ : d)];
  }
  static void append(ranges& all, int block) {
    if (!all.empty() && all.back().first + all.back().count == block)
      ++all.back().count;
    else
      all.push_back({block, 1});
  }

  int p_, rounds_;
  std::vector<int> send_round_at_;  // by distance: round in which that block leaves; rounds() at 0
  std::vector<int> owner_at_;       // owner of each block
};

}  // namespace tutti::patterns
