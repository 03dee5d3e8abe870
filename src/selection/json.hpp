// SPDX-License-Identifier: Apache-2.0
//
// A JSON reader for diagnostics: every value knows its line, and an object keeps duplicate keys.
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
  // a number that is not negative, has no fraction, and fits into 64 bits
  bool is_unsigned = false;
  std::uint64_t number = 0;  // its value, if `is_unsigned`
  std::string text;          // of a text; for a number its source text (integers in canonical form)
  std::vector<value> items;  // of a list, or the members of an object
  struct key {
    std::string name;
    int line = 1;
  };
  std::vector<key> keys;  // of an object, one for each item
};

/// "an object", "a number"
std::string_view kind(const value&) noexcept;
/// "NAME must be an object, not a number", for a fault
std::string wrong_kind(const value& found, value::type expected, std::string_view name);

/// The parser rejects deeper nesting.
inline constexpr std::size_t max_depth = 64;

struct parsed {
  value root;
  bool good = true;
  std::string problem;  // empty if good
  int line = 1;
};

/// Throws nothing but std::bad_alloc.
parsed parse(std::string_view text);

}  // namespace tutti::json
