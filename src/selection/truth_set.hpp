// SPDX-License-Identifier: Apache-2.0
//
// Represents sets of calls by the truth values of some conditions, to compute exactly which calls a
// list of regions leaves. A set over n conditions has 2^n bits. Most trees test few conditions. The
// users of this class reject trees that test more than `max_conditions`, so that operations stay
// fast.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "selection/conditions.hpp"

namespace tutti::detail {

class truth_set {
 public:
  /// The maximum number of conditions.
  static constexpr int max_conditions = 27;

  /// All calls of a collective, distinguished by at most `max_conditions` conditions.
  truth_set(condition_bits mentioned, collective what) {
    for_each_condition(mentioned, [&](condition c) { order_.push_back(c); });
    const std::size_t all = std::size_t{1} << order_.size();
    bits_.assign((all + 63) / 64, ~std::uint64_t{0});
    if (all < 64) bits_[0] = (std::uint64_t{1} << all) - 1;
    intersect(fixed_conditions(what));
    for (const consequence& c : consequences()) {
      literals broken;
      broken.demand(c.first, c.first_value);
      broken.demand(c.second, !c.second_value);
      if ((broken.mask & mentioned) == broken.mask) subtract(broken);
    }
  }

  bool empty() const noexcept { return !any().has_value(); }
  /// The truth values of some call in the set.
  std::optional<literals> any() const { return any_without({}, nothing()); }
  /// The truth values of some call in the set for which `some` holds and `also` does not.
  std::optional<literals> any_without(const literals& some, const literals& also) const {
    const pattern required = pattern_of(some), forbidden = pattern_of(also);
    std::optional<literals> found;
    each(required, [&](std::size_t i) {
      const std::uint64_t removed = forbidden.never || !forbidden.fits(i) ? 0 : forbidden.within;
      const std::uint64_t matches = bits_[i] & required.within & ~removed;
      if (matches == 0) return true;
      found = values_at(i * 64 + static_cast<std::size_t>(std::countr_zero(matches)));
      return false;
    });
    return found;
  }
  bool intersects(const literals& some) const { return any_without(some, nothing()).has_value(); }
  /// Keeps only the calls for which `some` holds.
  void intersect(const literals& some) {
    const pattern required = pattern_of(some);
    for (std::size_t i = 0; i < bits_.size(); ++i)
      bits_[i] = !required.never && required.fits(i) ? bits_[i] & required.within : 0;
  }
  /// Removes the calls for which `some` holds.
  void subtract(const literals& some) {
    const pattern removed = pattern_of(some);
    each(removed, [&](std::size_t i) {
      bits_[i] &= ~removed.within;
      return true;
    });
  }

 private:
  /// The elements for which some literals hold: the words whose index has `values` in the bits of
  /// `mask`, and in these words the bits `within`.
  struct pattern {
    std::size_t mask = 0, values = 0;
    std::uint64_t within = ~std::uint64_t{0};
    bool never = false;

    bool fits(std::size_t i) const noexcept { return (i & mask) == values; }
  };
  /// Literals that hold for no call.
  static literals nothing() noexcept { return {0, 1}; }

  pattern pattern_of(const literals& some) const {
    static constexpr std::uint64_t halves[] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                               0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
    pattern p;
    p.never = (some.values & ~some.mask) != 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (!(some.mask & bit(order_[k]))) continue;
      const bool value = (some.values & bit(order_[k])) != 0;
      if (k < 6) {
        p.within &= value ? halves[k] : ~halves[k];
      } else {
        p.mask |= std::size_t{1} << (k - 6);
        if (value) p.values |= std::size_t{1} << (k - 6);
      }
    }
    return p;
  }
  /// Calls `step` with the index of every matching word until it returns false.
  template <class F>
  void each(const pattern& p, F&& step) const {
    if (p.never) return;
    for (std::size_t i = p.values; i < bits_.size(); i = (((i | p.mask) + 1) & ~p.mask) | p.values)
      if (!step(i)) return;
  }
  literals values_at(std::size_t at) const {
    literals found;
    for (std::size_t k = 0; k < order_.size(); ++k) found.demand(order_[k], (at >> k & 1) != 0);
    return found;
  }

  std::vector<condition> order_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace tutti::detail
