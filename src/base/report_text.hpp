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

/// Whether it is a header of the library as a compiler names it: what comes before "include/tutti/" is as the
/// program's include path has it. Sources of the program may stand in such a folder too, but are no headers.
constexpr bool is_own_header(std::string_view path) noexcept {
  if (!path.ends_with(".hpp")) return false;
  constexpr std::string_view folder = "tutti/", above = "include/";
  for (std::size_t at = path.find(folder); at != path.npos; at = path.find(folder, at + 1)) {
    const std::string_view before = path.substr(0, at);
    if (before.empty() || before == "./") return true;
    if (before.ends_with(above) &&
        (before.size() == above.size() || before[before.size() - above.size() - 1] == '/'))
      return true;
  }
  return false;
}

/// "sums.cpp:42": the file without its folders; empty: not known, or in a header of the library, where a call
/// was made on behalf of the program.
inline std::string place_text(const std::source_location& at) {
  const std::string_view path = at.line() != 0 ? at.file_name() : "";
  if (path.empty() || is_own_header(path)) return {};
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
