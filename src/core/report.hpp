// SPDX-License-Identifier: Apache-2.0
//
// The pieces that messages of the library are made of: a place in the program, a text within another, a value
// that is quoted.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace tutti {

/// What every message begins with, once.
inline constexpr std::string_view report_prefix = "tutti: ";

/// The text of an error within another message: without the prefix.
constexpr std::string_view without_prefix(std::string_view text) noexcept {
  return text.starts_with(report_prefix) ? text.substr(report_prefix.size()) : text;
}

/// "sums.cpp:42": the file without its folders; empty: not known, or in a header of the library, where a call
/// was made on behalf of the program.
inline std::string place_text(const std::source_location& at) {
  const std::string_view path = at.line() != 0 ? at.file_name() : "";
  if (path.empty() || path.find("/include/tutti/") != path.npos) return {};
  return std::string(path.substr(path.find_last_of("/\\") + 1)) + ':' + std::to_string(at.line());
}

/// What the user gave, for a message: the first 200 characters of a longer text, and "...".
inline std::string echoed(std::string_view given) {
  constexpr std::size_t longest = 200;
  std::string text(given.substr(0, longest));
  if (given.size() > longest) text += "...";
  return text;
}

}  // namespace tutti
