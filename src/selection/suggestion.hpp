// SPDX-License-Identifier: Apache-2.0
//
// Finds the known name that a misspelt name probably means, for suggestions in messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/report_text.hpp"

namespace tutti::detail {

/// The number of insertions, deletions, replacements and exchanges of adjacent characters that
/// turn a into b.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

/// Returns whether a name of `length` characters may be a misspelling of a name at this distance. A
/// third of them may differ.
constexpr bool is_near(std::size_t distance, std::size_t length) noexcept {
  return distance <= std::max<std::size_t>(length, 3) / 3;
}

/// Returns the name in `known` that is nearest to `name`; empty if none is near.
inline std::string_view closest(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  if (name.size() > 64) return best;
  std::size_t best_distance = name.size() + 64;
  for (const std::string_view one : known) {
    const std::size_t distance = edit_distance(name, one);
    if (distance < best_distance) best_distance = distance, best = one;
  }
  return is_near(best_distance, name.size()) ? best : std::string_view();
}

/// A name in quotation marks, truncated if it is long.
inline std::string quoted(std::string_view name) { return '"' + echoed(name) + '"'; }

/// Returns `did you mean "ring"?` or, if no name is near, the list of known names.
inline std::string suggest(std::string_view name, std::span<const std::string_view> known) {
  if (const std::string_view best = closest(name, known); !best.empty())
    return "did you mean \"" + std::string(best) + "\"?";
  std::string text;
  for (const std::string_view one : known) text += (text.empty() ? "known: " : ", ") + std::string(one);
  return text;
}

}  // namespace tutti::detail
