// SPDX-License-Identifier: Apache-2.0
//
// The table of all environment variables that the library reads, except those of a single engine.
// An entry holds the values, the default and the meaning. all_variables()
// (engines/engine_table.hpp) adds the variables of the engines. The build makes docs/environment.md
// from these entries, and `tutti info` prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/detail/export.hpp"

namespace tutti::detail {

struct variable {
  std::string_view name;
  std::string_view values;
  std::string_view default_value;  // the default, in words
  std::string_view meaning;
};

/// In the order of the documents. An entry with <COLLECTIVE> in its name stands for one variable
/// for each collective.
std::span<const variable> variables() noexcept;

/// The variables that an entry stands for: its own name, or one name for each collective.
std::vector<std::string> names_of(const variable&);

/// The value, or nothing if the variable is unset or empty.
TUTTI_API std::optional<std::string> setting(std::string_view name);

/// Reads "64K" as 65536. The suffixes are K, M and G, also written KiB or KB (1024 bytes), and B.
/// Returns nothing if the text is no number or the number is too large.
std::optional<std::uint64_t> read_number(std::string_view text) noexcept;

/// The value as a number in [min, max], or `default_value` if it is unset. Takes the suffixes of
/// read_number. Throws a usage_error that names the variable.
TUTTI_API std::uint64_t number_setting(std::string_view name, std::uint64_t min, std::uint64_t max,
                                       std::uint64_t default_value);

/// The same as number_setting, for the values 0 and 1.
TUTTI_API bool switch_setting(std::string_view name, bool default_value);

/// The TUTTI_* variables that are set but not in `all`, sorted.
std::vector<std::string> unknown_settings(std::span<const variable> all);

}  // namespace tutti::detail
