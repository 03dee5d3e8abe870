// SPDX-License-Identifier: Apache-2.0
//
// Defines the restrictions of algorithms and compositions in one table: the condition that each one
// requires, and the message for a call that lacks it. The proof of trees and the validation of
// choices by name use this table.
#pragma once

#include <string>

#include "schedule/algorithm.hpp"
#include "selection/conditions.hpp"

namespace tutti::detail {

/// The requirements of a catalogue entry, as conditions.
struct demand {
  literals conditions;
  std::string beyond;  ///< a requirement that no condition expresses; empty if there is none
};
/// The requirements with these parameter values.
demand demands_of(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values);

/// Returns whether a call meets all requirements.
bool meets_demands(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values,
                   const selection_context& s) noexcept;

/// Describes the requirements that a call does not meet, separated by semicolons; empty if it meets
/// all.
std::string unmet_demands(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values,
                          const selection_context& s);

}  // namespace tutti::detail
