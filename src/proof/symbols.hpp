// SPDX-License-Identifier: Apache-2.0
//
// The symbolic content of an element in an abstract run: uninitialized, a gap of the caller's
// buffer, or a product of operands. An operand is a pair (rank, element). Two products are compared
// in O(1) by their lengths and two hashes: one depends on the order of the operands, the other does
// not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::proof {

using symbol = std::uint32_t;
inline constexpr symbol uninitialized = 0, gap = 1;

class symbols {
 public:
  symbols() { clear(); }
  void clear();
  /// Returns a new symbol for an operand. Two symbols for the same operand are equal.
  symbol operand(int rank, std::size_t element);
  /// left followed by right. O(1).
  symbol product(symbol left, symbol right);
  bool same(symbol a, symbol b, bool ordered) const noexcept {
    const term &x = all_[a], &y = all_[b];
    return a == b || (x.length == y.length && x.sum == y.sum && (!ordered || x.hash == y.hash));
  }
  std::uint64_t products() const noexcept { return products_; }
  /// "r0[3] r1[3] r2[3]", truncated if it is long; [3] is the element of that rank's operand.
  std::string text(symbol s) const;

 private:
  struct term {
    std::uint64_t length, hash, power, sum;  // power: base to the power of length
    std::uint32_t left, right;               // of an operand: rank, element
  };
  void expand(symbol s, std::size_t max_operands, std::vector<symbol>& operands) const;

  std::vector<term> all_;
  std::uint64_t products_ = 0;
};

}  // namespace tutti::proof
