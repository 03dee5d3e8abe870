// SPDX-License-Identifier: Apache-2.0
//
// Rank arithmetic for pipelining blocks over a circulant graph, for any number p of ranks. In a
// round with index k every rank sends to the rank skip(k) above it and receives from the rank
// skip(k) below it. Ranks are relative to the root, which is 0.
//
// The two schedules, `receives` and `sends`, state which blocks move. Each of q = ceil(log2 p)
// consecutive rounds with indices 0 .. q-1 brings one new block. So n blocks reach all ranks after
// n - 1 + q rounds.
//
// Block numbers in a schedule are relative to the phase (q rounds). Phase j adds j * q and
// subtracts the `idle` rounds of the first phase. A negative result means that nothing is sent. A
// result beyond the end means the last block. No rank sends to the root.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tutti::patterns {

class circulant {
 public:
  explicit circulant(int p) : p_(p) {
    while (1LL << q_ < p) ++q_;
    skips_.resize(static_cast<std::size_t>(q_) + 1);
    for (int k = q_, s = p; k >= 0; --k, s = (s + 1) / 2) at(skips_, k) = s;
  }

  /// q: the number of rounds of a phase.
  int phase() const { return q_; }
  int skip(int k) const { return at(skips_, k); }
  /// The number of rounds that the first phase omits for n blocks, so that the last phase is
  /// complete.
  int idle(int n) const { return q_ == 0 ? 0 : (q_ - (n - 1) % q_) % q_; }
  /// The number of phases for n blocks, including the incomplete first one.
  int phases(int n) const { return q_ == 0 ? 0 : (n - 1 + q_ + idle(n)) / q_; }

  /// The blocks that relative rank v receives in a phase. The result is meaningless for the root.
  /// O(q).
  std::vector<int> receives(int v) const {
    search s{*this, p_ + v, 0, std::vector<int>(static_cast<std::size_t>(q_)), {}, {}};
    for (int e = 0; e <= q_; ++e) {
      s.lower.push_back(e - 1);
      s.upper.push_back(e + 1);
    }
    const int base = base_block(v);
    s.unlink(base);
    s.walk(0, q_, 2 * p_);
    for (int& block : s.found) block = block == q_ ? base : block - q_;
    return std::move(s.found);
  }

  /// The blocks that relative rank v sends: in each round the block that its receiver expects. O(q
  /// * q).
  std::vector<int> sends(int v) const {
    std::vector<int> blocks(static_cast<std::size_t>(q_));
    for (int k = 0; k < q_; ++k) at(blocks, k) = v == 0 ? k : at(receives((v + skip(k)) % p_), k);
    return blocks;
  }

 private:
  static int& at(std::vector<int>& v, int i) { return v[static_cast<std::size_t>(i)]; }
  static int at(const std::vector<int>& v, int i) { return v[static_cast<std::size_t>(i)]; }

  // The index of the last skip on the greedy path of skips from the root to v; it is the first
  // block that v receives.
  int base_block(int v) const {
    if (v == 0) return q_;
    for (int k = q_ - 1;; --k) {
      if (v < skip(k)) continue;
      v -= skip(k);
      if (v == 0) return k;
    }
  }

  // Finds the paths from the root to the ranks from which v receives, the nearest first. Each path
  // begins with a skip that no earlier path begins with. It is a depth-first search that never uses
  // a skip twice.
  struct search {
    const circulant& graph;
    int target, k;
    // lower, upper: the linked list of the skips not used yet
    std::vector<int> found, lower, upper;

    // An unlinked element keeps its lower neighbor, so that a walk that is at this element can
    // continue.
    void unlink(int e) {
      if (at(upper, e) <= graph.q_) at(lower, at(upper, e)) = at(lower, e);
      if (at(lower, e) >= 0) at(upper, at(lower, e)) = at(upper, e);
    }
    void walk(int position, int e, int limit) {
      for (; e >= 0 && k < graph.q_; e = at(lower, e)) {
        const int next = position + graph.skip(e);
        if (next > target - graph.skip(k) || next >= limit) continue;
        if (next <= target - graph.skip(k + 1)) {
          walk(next, e, limit);
          if (k == graph.q_) return;
        }
        if (position > target - graph.skip(k + 1)) return;
        limit = next;
        at(found, k) = e;
        unlink(e);
        ++k;
      }
    }
  };

  int p_, q_ = 0;
  std::vector<int> skips_;
};

}  // namespace tutti::patterns
