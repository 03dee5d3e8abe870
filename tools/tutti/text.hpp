// SPDX-License-Identifier: Apache-2.0
//
// Text of the command line: names that were meant, lines that fit.
#pragma once

#include <string>
#include <string_view>

#include "schedule/algorithm.hpp"
#include "schedule/composite/composition.hpp"
#include "selection/suggestion.hpp"

namespace tutti::tool {

/// `did you mean "allreduce"?`, or if no name of a collective is near what was typed, where they are listed.
std::string suggest_collective(std::string_view typed);
/// The same of algorithms and compositions; as "ring" alone if that is nearer than "allreduce/ring".
std::string suggest_algorithm(std::string_view typed);
/// The same of both.
std::string suggest_any(std::string_view typed);

/// The columns that a line may have: COLUMNS if it is set, else those of the terminal that standard output
/// is. 0: any number, since it is none.
std::size_t columns_of_output();

/// "commutative, not_in_place"; `none` where there are none.
std::string restrictions_of(const catalogue_entry& a, std::string_view none);

/// How the environment asks for it: "TUTTI_ALLREDUCE_ALGORITHM=ring", with its parameters.
std::string setting_for(const pure_algorithm& a);
std::string setting_for(const composed_algorithm& c);

/// Broken between words, each line after `indent` blanks, the last one ended too.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);
/// The same with lines that fit into the terminal, and are 96 columns long at most.
std::string wrapped(std::string_view text, std::size_t indent);

/// For XML.
std::string escaped(std::string_view text);

/// Whole numbers without a point.
std::string number(double x);

}  // namespace tutti::tool
