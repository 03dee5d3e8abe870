// SPDX-License-Identifier: Apache-2.0
//
// Text of the command line: names that were meant, lines that fit.
#pragma once

#include <string>
#include <string_view>

#include "compose/composition.hpp"
#include "schedule/algorithm.hpp"
#include "select/nearest.hpp"

namespace tutti::tool {

/// The name of a collective that is nearest to what was typed.
std::string nearest_collective(std::string_view typed);
/// The name of an algorithm or composition that is; as "ring" alone where that is nearer than
/// "allreduce/ring".
std::string nearest_algorithm(std::string_view typed);

/// "commutative, not_in_place"; `none` where there are none.
std::string restrictions_of(const catalogue_entry& a, std::string_view none);

/// How the environment asks for it: "TUTTI_ALLREDUCE_ALGORITHM=ring", with its parameters.
std::string setting_for(const pure_algorithm& a);
std::string setting_for(const composed_algorithm& c);

/// Broken between words, each line after `indent` blanks, the last one ended too.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 96);

/// For XML.
std::string escaped(std::string_view text);

/// Whole numbers without a point.
std::string number(double x);

}  // namespace tutti::tool
