// SPDX-License-Identifier: Apache-2.0
//
// What the environment says about calls, read once before the ranks start and the same for all of them.
#pragma once

#include <array>
#include <string>

#include "tutti/core/collective.hpp"

namespace tutti::detail {

/// What becomes of a named algorithm whose restrictions a call does not meet.
enum class fallback { error, warn, silent };

struct settings {
  bool check = false;                                       // TUTTI_CHECK
  fallback when_unfit = fallback::warn;                     // TUTTI_COLL_FALLBACK
  std::array<std::string, collective_names.size()> forced;  // TUTTI_<COLLECTIVE>_ALGORITHM
};

/// Throws usage_error where a variable has a value that means nothing.
settings read_settings();

/// TUTTI_ALLREDUCE_ALGORITHM
std::string algorithm_variable(collective what);

}  // namespace tutti::detail
