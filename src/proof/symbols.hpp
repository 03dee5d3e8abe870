// SPDX-License-Identifier: Apache-2.0
//
// The symbolic content of an element in an abstract run: uninitialised, a gap of the caller's
// buffer, or a product of operands. A product is a word over letters (rank, element). Two words are
// compared in O(1) by their lengths and two hashes: one depends on the order of the letters, the
// other does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::proof {

using symbol = std::uint32_t;
inline constexpr symbol uninitialised = 0, gap = 1;

class symbols {
 public:
  symbols() { clear(); }
  void clear();
  /// Returns a new symbol for a letter. Two symbols for the same letter are equal words.
  symbol letter(int rank, std::size_t element);
  /// left followed by right. O(1).
  symbol product(symbol left, symbol right);
  bool same(symbol a, symbol b, bool ordered) const noexcept {
    const word &x = all_[a], &y = all_[b];
    return a == b || (x.length == y.length && x.sum == y.sum && (!ordered || x.hash == y.hash));
  }
  std::uint64_t products() const noexcept { return products_; }
  /// "r0[3] r1[3] r2[3]", truncated if it is long; [3] is the element of that rank's operand.
  std::string text(symbol s) const;

 private:
  struct word {
    std::uint64_t length, hash, power, sum;  // power: base to the power of length
    std::uint32_t left, right;               // of a letter: rank, element
  };
  void expand(symbol s, std::size_t most, std::vector<symbol>& letters) const;

  std::vector<word> all_;
  std::uint64_t products_ = 0;
};

}  // namespace tutti::proof
