// SPDX-License-Identifier: Apache-2.0
//
// The settings of calls in the environment. Read once before the ranks start, and the same for all
// of them.
#pragma once

#include <array>
#include <string>

#include "runtime/trace/trace.hpp"
#include "selection/resolve.hpp"
#include "tutti/collective.hpp"

namespace tutti::detail {

/// The reaction if a call does not meet the restrictions of a named algorithm.
enum class fallback { error, warn, silent };

struct settings {
  bool check = false;                    // TUTTI_CHECK
  fallback when_unfit = fallback::warn;  // TUTTI_COLL_FALLBACK
  trace_options trace;                   // TUTTI_TRACE
};

/// Throws usage_error if a variable has an invalid value.
settings read_settings();

/// The choices that the variables of every collective force. Throws usage_error as read_settings()
/// does.
std::array<forced_choice, collective_names.size()> read_forced();

/// The variable of an override: TUTTI_ALLREDUCE_ALGORITHM, TUTTI_ALLREDUCE_INTER_ALGORITHM,
/// TUTTI_ALLREDUCE_COMPOSITION.
std::string override_variable(collective what, override_kind kind);

}  // namespace tutti::detail
