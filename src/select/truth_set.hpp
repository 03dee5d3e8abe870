// SPDX-License-Identifier: Apache-2.0
//
// Sets of calls as the truth values of some conditions: what a list of regions leaves over, exactly. A set of
// n conditions has 2^n bits. There are 19 of the library's own and at most 6 that a document may declare, so
// that operations stay quick whatever a tree asks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "select/conditions.hpp"

namespace tutti {

class truth_set {
 public:
  using bits = std::vector<std::uint64_t>;

  /// More conditions are not told apart.
  static constexpr int most = 25;

  /// All calls of a collective, told apart by these conditions, at most `most` of them.
  truth_set(condition_bits mentioned, collective what) {
    for_each_condition(mentioned, [&](condition c) { order_.push_back(c); });
    const std::size_t all = std::size_t{1} << order_.size();
    left_.assign((all + 63) / 64, ~std::uint64_t{0});
    if (all < 64) left_[0] = (std::uint64_t{1} << all) - 1;
    keep(left_, fixed_conditions(what));
    for (const consequence& c : consequences()) {
      literals broken;
      broken.demand(c.first, c.first_value);
      broken.demand(c.second, !c.second_value);
      if ((broken.mask & mentioned) == broken.mask) take(broken);
    }
  }

  bool empty() const noexcept { return !first(left_).has_value(); }
  /// Truth values of a call that is still there.
  std::optional<literals> any() const { return first(left_); }
  /// Those of a call that is still there, to which `some` applies and for which `also` does not hold.
  std::optional<literals> any_without(const literals& some, const literals& also) const {
    bits chosen = left_;
    keep(chosen, some);
    bits legal = chosen;
    keep(legal, also);
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] &= ~legal[i];
    return first(chosen);
  }
  bool meets(const literals& some) const {
    bits chosen = left_;
    keep(chosen, some);
    return first(chosen).has_value();
  }
  /// Leaves those to which `some` applies.
  void keep(const literals& some) { keep(left_, some); }
  /// Takes out the calls to which `some` applies.
  void take(const literals& some) {
    bits gone = left_;
    keep(gone, some);
    for (std::size_t i = 0; i < left_.size(); ++i) left_[i] &= ~gone[i];
  }

 private:
  void keep(bits& set, const literals& some) const {
    static constexpr std::uint64_t within[] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                               0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (!(some.mask & bit(order_[k]))) continue;
      const bool value = (some.values & bit(order_[k])) != 0;
      for (std::size_t i = 0; i < set.size(); ++i)
        set[i] &=
            k < 6 ? (value ? within[k] : ~within[k]) : ((i >> (k - 6) & 1) == value ? ~std::uint64_t{0} : 0);
    }
  }
  std::optional<literals> first(const bits& set) const {
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i] == 0) continue;
      const std::size_t at = i * 64 + static_cast<std::size_t>(std::countr_zero(set[i]));
      literals found;
      for (std::size_t k = 0; k < order_.size(); ++k) found.demand(order_[k], (at >> k & 1) != 0);
      return found;
    }
    return std::nullopt;
  }

  std::vector<condition> order_;
  bits left_;
};

}  // namespace tutti
