// SPDX-License-Identifier: Apache-2.0
//
// The part of `tutti check` that both of its proofs use: its options, and entries of the catalogue
// with fixed parameters. check.cpp proves all ranks together, check_rank.cpp proves one rank.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/algorithm.hpp"
#include "selection/choose.hpp"

namespace tutti::tool {

using namespace tutti::detail;

struct check_options {
  std::vector<std::string> names;
  std::string ranks = "1..64";
  std::optional<int> rank;
  bool as_json = false, quiet = false, exhaustive = false;
  unsigned threads = 0;
};

/// Proves what one rank does for each number of ranks. Returns the exit status.
int check_rank(const check_options& options, const std::vector<int>& ranks);

inline bool has_name(const catalogue_entry& a, std::string_view name) {
  return name == a.name || name == a.short_name() || name == name_of(a.what);
}

// An algorithm or composition with some parameters fixed: "bcast/knomial:k=6".
template <class Entry>
struct fixed_entry {
  Entry entry;
  std::vector<algorithm_parameter_range> ranges;

  fixed_entry(const Entry& e, const algorithm_parameter_values& given, std::string_view text) : entry(e) {
    for (algorithm_parameter_range range : e.parameters) {
      const std::uint32_t value = given[static_cast<std::size_t>(range.which)];
      const std::string named = std::string(name_of(range.which)) + "=";
      if (text.find(named) != text.npos) range.default_value = range.min = range.max = value;
      ranges.push_back(range);
    }
    entry.parameters = ranges;
  }
};

}  // namespace tutti::tool
