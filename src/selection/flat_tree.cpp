// SPDX-License-Identifier: Apache-2.0
#include "selection/flat_tree.hpp"

#include <algorithm>

namespace tutti::detail {
namespace {

// Collects the counts after which a condition or a comparison with a threshold may change its
// value. Every quantity and every condition is monotone in the count, so between two of these
// counts the tree makes the same decision.
class bounds {
 public:
  explicit bounds(const selection_context& s) : s_(s) {
    // For count_ge_ranks.
    if (s.call.ranks > 0) add_bound(static_cast<std::uint64_t>(s.call.ranks) - 1);
  }

  void add(std::span<const std::uint64_t> counts) {
    for (const std::uint64_t one : counts) counts_.push_back(one);
  }

  void add(const tree_node& n) {
    for (const tree_step& step : n.steps) {
      if (step.upper_bound != tree_step::open) add_threshold(n.by, step.upper_bound);
      add(step.then);
    }
  }

  std::vector<std::uint64_t> ascending() && {
    std::sort(counts_.begin(), counts_.end());
    counts_.erase(std::unique(counts_.begin(), counts_.end()), counts_.end());
    if (!counts_.empty() && counts_.back() == tree_step::open) counts_.pop_back();
    counts_.push_back(tree_step::open);
    return std::move(counts_);
  }

 private:
  void add_bound(std::uint64_t count) { counts_.push_back(count); }

  // Adds the largest count for which the quantity is at most `upper_bound`. It bisects with the
  // functions of the table of quantities.
  void add_threshold(quantity q, std::uint64_t upper_bound) {
    selection_context s = s_;
    const auto fits = [&](std::uint64_t count) {
      s.call.count = count;
      return value_of(q, s) <= upper_bound;
    };
    if (!fits(0) || fits(tree_step::open)) return;
    std::uint64_t below = 0, above = tree_step::open;
    while (above - below > 1) {
      const std::uint64_t middle = below + (above - below) / 2;
      (fits(middle) ? below : above) = middle;
    }
    add_bound(below);
  }

  const selection_context& s_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace

flat_tree::flat_tree(const document& d, const selection_context& s, tree_half half, const native_rule& native,
                     std::span<const std::uint64_t> native_bounds) {
  selection_context one = s;
  const auto decided = [&](std::uint64_t count) {
    one.call.count = count;
    if (native) one.offer(native(count));
    return &decide(d, one, half);
  };
  if (is_vector_form(s.call.what)) {  // their counts are not part of the selection context
    steps_.push_back({tree_step::open, decided(s.call.count)});
    return;
  }
  bounds all(s);
  all.add(native_bounds);
  for (const tree_region& r : d.of(half)[static_cast<std::size_t>(s.call.what)]) all.add(r.then);
  for (const std::uint64_t upper_bound : std::move(all).ascending()) {
    const leaf* const chosen = decided(upper_bound);
    if (!steps_.empty() && steps_.back().chosen == chosen)
      steps_.back().upper_bound_of_count = upper_bound;
    else
      steps_.push_back({upper_bound, chosen});
  }
}

}  // namespace tutti::detail
