// SPDX-License-Identifier: Apache-2.0
//
// Parts of the library's messages: source locations, texts inside other texts, quoted values.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace tutti::detail {

/// The prefix of every message. A message contains it once.
inline constexpr std::string_view report_prefix = "tutti: ";

/// The text of an error without the prefix, for use inside another message.
constexpr std::string_view without_prefix(std::string_view text) noexcept {
  return text.starts_with(report_prefix) ? text.substr(report_prefix.size()) : text;
}

/// The build gives the library's sources this folder in place of their own, so that a path shows
/// which source is the library's.
inline constexpr std::string_view library_folder = "libtutti:/";

/// Whether `path` is a source or header of the library, as a compiler names it. The part before
/// "include/tutti/" comes from the program's include path. Sources of the program may lie in such a
/// folder too, but are no headers.
constexpr bool is_of_library(std::string_view path) noexcept {
  if (path.starts_with(library_folder)) return true;
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

/// Formats a location as "sums.cpp:42", without folders. Returns an empty string if the location is
/// unknown. The same holds in a file of the library, because the call was made there for the
/// program.
inline std::string location_text(const std::source_location& at) {
  const std::string_view path = at.line() != 0 ? at.file_name() : "";
  if (path.empty() || is_of_library(path)) return {};
  return std::string(path.substr(path.find_last_of("/\\") + 1)) + ':' + std::to_string(at.line());
}

/// A value of the user, for a message. Truncated after 200 characters and marked with "...".
inline std::string echoed(std::string_view value) {
  constexpr std::size_t max_length = 200;
  std::string text(value.substr(0, max_length));
  if (value.size() > max_length) text += "...";
  return text;
}

}  // namespace tutti::detail
