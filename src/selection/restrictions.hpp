// SPDX-License-Identifier: Apache-2.0
//
// What the restrictions of algorithms and compositions mean, in one table: which condition each demands, and
// what is said where a call does not meet it. Trees are proved by it, and choices by name checked.
#pragma once

#include <string>

#include "schedule/algorithm.hpp"
#include "selection/conditions.hpp"

namespace tutti {

/// What of a call an entry of a catalogue demands in terms of conditions, and whether conditions can say all
/// of it.
struct demand {
  literals conditions;
  std::string beyond;  ///< what no condition says, empty where there is no such thing
};
/// With these values of its parameters.
demand demands_of(const catalogue_entry& of, const algorithm_parameter_values& parameter_values);

/// True where a call meets all of it.
bool meets_demands(const catalogue_entry& of, const algorithm_parameter_values& parameter_values,
                   const selection_context& s) noexcept;

/// What a call does not meet, in words, separated by semicolons; empty where it meets all.
std::string unmet_demands(const catalogue_entry& of, const algorithm_parameter_values& parameter_values,
                          const selection_context& s);

}  // namespace tutti
