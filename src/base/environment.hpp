// SPDX-License-Identifier: Apache-2.0
//
// Every environment variable that the library reads, but for those that one engine alone obeys, in one table:
// what it may be, what it is by default, what it does. all_variables() (engines/engine.hpp) adds the engines'
// own; docs/environment.md and `tutti info` are made from these.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct variable {
  std::string_view name;
  std::string_view values;
  std::string_view preset;  // the default, in words
  std::string_view meaning;
};

/// In the order in which documents show them. TUTTI_<COLLECTIVE>_ALGORITHM and its like stand for one
/// variable a collective.
std::span<const variable> variables() noexcept;

/// The variables that an entry stands for: one of its name, or one a collective.
std::vector<std::string> names_of(const variable&);

/// The value, or nothing where it is unset or empty.
std::optional<std::string> setting(std::string_view name);

/// "64K" as 65536; suffixes K, M, G, also as KiB and KB (1024 bytes too), and B. Nothing where it is no
/// number, or too large.
std::optional<std::uint64_t> read_number(std::string_view text) noexcept;

/// The value as a number in [least, most]; `otherwise` where unset. Suffixes as read_number. Throws
/// usage_error that names the variable.
std::uint64_t number_setting(std::string_view name, std::uint64_t least, std::uint64_t most,
                             std::uint64_t otherwise);

/// 0 or 1.
bool switch_setting(std::string_view name, bool otherwise);

/// TUTTI_* variables that are set and are not among all that there are.
std::vector<std::string> unknown_settings(std::span<const variable> all);

}  // namespace tutti
