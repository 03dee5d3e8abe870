// SPDX-License-Identifier: Apache-2.0
//
// JSON as its author wrote it: every value knows its line, and an object keeps a key that is given twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::json {

struct value {
  enum class type : std::uint8_t { null, boolean, number, text, list, object };
  type is = type::null;
  int line = 1;
  bool truth = false;
  bool whole = false;        // a number that is not negative, has no fraction, and fits into 64 bits:
  std::uint64_t number = 0;  // it
  std::string text;          // of a text, or of a number as it was written (more or less)
  std::vector<value> items;  // of a list, and the members of an object
  struct key {
    std::string name;
    int line = 1;
  };
  std::vector<key> keys;  // of an object, one for each of the items
};

/// "an object", "a number"
std::string_view kind(const value&) noexcept;

/// Nesting beyond this is refused.
inline constexpr std::size_t deepest = 64;

struct parsed {
  value root;
  bool good = true;
  std::string problem;  // where it is not
  int line = 1;
};

/// Throws nothing but std::bad_alloc.
parsed parse(std::string_view text);

}  // namespace tutti::json
