// SPDX-License-Identifier: Apache-2.0
//
// What the environment says about calls, read once before the ranks start and the same for all of them.
#pragma once

#include <array>
#include <string>

#include "runtime/trace/trace.hpp"
#include "selection/resolve.hpp"
#include "tutti/collective.hpp"

namespace tutti::detail {

/// What becomes of a named algorithm whose restrictions a call does not meet.
enum class fallback { error, warn, silent };

struct settings {
  bool check = false;                    // TUTTI_CHECK
  fallback when_unfit = fallback::warn;  // TUTTI_COLL_FALLBACK
  trace_options trace;                   // TUTTI_TRACE
};

/// Throws usage_error where a variable has a value that means nothing.
settings read_settings();

/// What the variables of every collective force. Throws usage_error as read_settings().
std::array<forced_choice, collective_names.size()> read_forced();

/// TUTTI_ALLREDUCE_ALGORITHM, TUTTI_ALLREDUCE_INTER_ALGORITHM, TUTTI_ALLREDUCE_COMPOSITION
std::string override_variable(collective what, override_kind kind);

}  // namespace tutti::detail
