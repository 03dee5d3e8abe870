// SPDX-License-Identifier: Apache-2.0
//
// Loads decision trees for the command line and describes their tests in words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "selection/tree.hpp"
#include "selection/tree_difference.hpp"

namespace tutti::tool {

using namespace tutti::detail;

bool is_engine(std::string_view name) noexcept;
/// The engine whose trees are used if no engine is named: the engine of a small job in this
/// process.
std::string default_engine();

/// Returns the text of a file; empty if it cannot be read.
std::optional<std::string> text_of_file(const std::string& name);
/// Of the built-in trees, separated by commas.
std::string names_of_trees();

/// Loads the built-in trees of an engine, or a file. On failure, prints the error on stderr with
/// the subcommand's name, and sets `status` to 2.
std::optional<document> load_tree(std::string_view subcommand, const std::string& name, int& status);

/// "the operator commutes, within one group"; empty if there are no conditions.
std::string words_for(const literals&, std::span<const declared_condition>);
/// "2 ranks, 49 to 1024 bytes"; empty if no range is restricted.
std::string words_for(const value_ranges&, collective);
/// "49 to 1024 bytes", "at most 4 nodes", "3 ranks or more"
std::string words_for(quantity, const value_range&, collective);
/// "recursive_multiplying, k = 4"; omits parameters that have their default values.
std::string words_for(const leaf&);
/// "trees/threads.json:27"
std::string place_of(const origin&);

}  // namespace tutti::tool
