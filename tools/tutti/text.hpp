// SPDX-License-Identifier: Apache-2.0
//
// Text functions of the command line: suggestions for misspelt names, and line wrapping.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "schedule/algorithm.hpp"
#include "schedule/composite/composition.hpp"
#include "selection/suggestion.hpp"

namespace tutti::tool {

using namespace tutti::detail;

/// Returns `did you mean "allreduce"?`. If no collective has a similar name, returns where the
/// names are listed.
std::string suggest_collective(std::string_view typed);
/// The same for algorithms and compositions. Returns "ring" alone if that is nearer than
/// "allreduce/ring".
std::string suggest_algorithm(std::string_view typed);
/// The same for collectives, algorithms and compositions.
std::string suggest_any(std::string_view typed);

/// A message of CLI11 about `arguments`. Their values are truncated as by echoed().
std::string with_short_values(std::string message, std::span<const std::string> arguments);

/// Returns the columns of a line: COLUMNS if it is set, else the width of the terminal on standard
/// output. Returns 0, for no limit, if standard output is no terminal.
std::size_t columns_of_output();

/// "commutative, not_in_place", or `none` if there are no restrictions.
std::string restrictions_of(const catalogue_entry& a, std::string_view none);

/// The variable that selects it: "TUTTI_ALLREDUCE_ALGORITHM=ring", with its parameters.
std::string setting_for(const pure_algorithm& a);
std::string setting_for(const composed_algorithm& c);

/// Breaks the text between words. Each line begins with `indent` blanks, and the last one ends with
/// a newline.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);
/// The same for the width of the terminal, at most 96 columns.
std::string wrapped(std::string_view text, std::size_t indent);

/// Breaks the paragraphs and list items of a Markdown document at 100 columns. Tables, headings and
/// code stay as they are.
std::string wrapped_markdown(std::string_view text);

/// Escapes the text for XML.
std::string escaped(std::string_view text);

/// Formats whole numbers without a decimal point.
std::string number(double x);

}  // namespace tutti::tool
