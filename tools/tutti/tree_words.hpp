// SPDX-License-Identifier: Apache-2.0
//
// Decision trees on the command line: where they come from, and words for what they ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "selection/tree.hpp"
#include "selection/tree_difference.hpp"

namespace tutti::tool {

bool is_engine(std::string_view name) noexcept;
/// Whose trees are meant where no engine is named: the one of a small job in this process.
std::string usual_engine();

/// A file's text; empty where it cannot be read.
std::optional<std::string> text_of_file(const std::string& name);

/// The built-in trees of an engine, or a file. Says on stderr, in the name of a subcommand, what is wrong
/// with it, and makes `status` 2.
std::optional<document> load_tree(std::string_view subcommand, const std::string& name, int& status);

/// "the operator commutes, within one group"; empty where there are none.
std::string words_for(const literals&, std::span<const declared_condition>);
/// "2 ranks, 49 to 1024 bytes"; empty where all values are within.
std::string words_for(const value_ranges&, collective);
/// "49 to 1024 bytes", "at most 4 nodes", "3 ranks or more"
std::string words_for(quantity, const value_range&, collective);
/// "recursive_multiplying, k = 4"; parameters that have their usual values are left out.
std::string words_for(const leaf&);
/// "trees/threads.json:27"
std::string place_of(const origin&);

}  // namespace tutti::tool
