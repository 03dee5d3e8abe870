// SPDX-License-Identifier: Apache-2.0
//
// A tree for one collective on one communicator: where everything is fixed but how much data there is, a tree
// comes down to a short list of element counts with a leaf each. What a warm call looks its choice up in.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "selection/tree.hpp"

namespace tutti {

struct flat_step {
  std::uint64_t upper_bound_of_count = tree_step::open;  ///< the greatest count that it serves
  const leaf* chosen = nullptr;                          ///< of the document, which must stay
};

class flat_tree {
 public:
  /// Whether the engine has its own collective for this many elements.
  using native_rule = std::function<native_offer(std::uint64_t count)>;

  flat_tree() = default;
  /// Of `d` for the calls that differ from `s` in their count alone (vector forms: s is the call). Where
  /// `native` is not given, what s says of it holds for every count; where it is, it may change its answer
  /// behind the counts `native_bounds` only.
  flat_tree(const document& d, const selection_context& s, tree_half half = tree_half::pure,
            const native_rule& native = {}, std::span<const std::uint64_t> native_bounds = {});

  /// What decide() answers for this count. Never allocates; the tree must not be empty.
  const leaf& at(std::uint64_t count) const noexcept {
    const flat_step* step = steps_.data();
    std::size_t n = steps_.size();
    while (n > 8) {  // beyond that a scan is no quicker
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
  /// Ascending; the last one is open.
  std::span<const flat_step> steps() const& noexcept { return steps_; }
  std::vector<flat_step> steps() && noexcept { return std::move(steps_); }

 private:
  std::vector<flat_step> steps_;
};

}  // namespace tutti
