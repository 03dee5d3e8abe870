// SPDX-License-Identifier: Apache-2.0
//
// The decision tree for one collective on one communicator, as a list of count intervals. If all
// agreed values but the count are fixed, a tree reduces to a short list of counts with one leaf
// each. Cached calls look up their choice in it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::detail {

struct flat_step {
  std::uint64_t upper_bound_of_count = tree_step::open;  ///< the largest count for which it is used
  /// points into the document, which must outlive it
  const leaf* chosen = nullptr;
};

class flat_tree {
 public:
  /// Returns how the engine offers its native collective for this count.
  using native_rule = std::function<native_offer(std::uint64_t count)>;

  flat_tree() = default;
  /// Flattens `d` for the calls that differ from `s` only in their count (for vector forms: for the
  /// call `s`). If `native` is empty, the offer in `s` holds for every count. Otherwise its result
  /// may change only after the counts in `native_bounds`.
  flat_tree(const document& d, const selection_context& s, tree_half half = tree_half::pure,
            const native_rule& native = {}, std::span<const std::uint64_t> native_bounds = {});

  /// Returns what decide() returns for this count. It does not allocate; the tree must not be
  /// empty.
  const leaf& at(std::uint64_t count) const noexcept {
    const flat_step* step = steps_.data();
    std::size_t n = steps_.size();
    while (n > 8) {  // with 8 steps or fewer a linear search is as fast
      const std::size_t half = n / 2;
      if (step[half - 1].upper_bound_of_count < count)
        step += half, n -= half;
      else
        n = half;
    }
    while (count > step->upper_bound_of_count) ++step;
    return *step->chosen;
  }
  bool empty() const noexcept { return steps_.empty(); }
  /// In ascending order; the last step has no upper bound.
  std::span<const flat_step> steps() const& noexcept { return steps_; }
  std::vector<flat_step> steps() && noexcept { return std::move(steps_); }

 private:
  std::vector<flat_step> steps_;
};

}  // namespace tutti::detail
