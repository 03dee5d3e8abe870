// SPDX-License-Identifier: Apache-2.0
//
// The functions that the engines with shared memory have in common, and that need no running job.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/agreed_signature.hpp"
#include "base/environment_variables.hpp"
#include "transport/endpoint.hpp"

namespace tutti::detail {

/// Their native collectives, which write results directly into the memory of other ranks.
native_offer embedded_offers(const agreed_signature& s, std::span<const std::string> holds = {}) noexcept;

/// Limits and default of the stacks of their ranks, in bytes.
inline constexpr std::size_t min_stack = 32 << 10, max_stack = std::size_t{1} << 30,
                             default_fiber_stack = 1 << 20;
inline constexpr variable stack_variable = {"TUTTI_STACK", "32K to 1G",
                                            "1M; for threads the limit of the system (ulimit -s)",
                                            "size in bytes of the stack of a rank that is a fiber or a "
                                            "thread; only pages that are touched use memory"};

inline constexpr engine_condition embedded_conditions[] = {
    {"oversubscribed", "there are more ranks than cores that they may use", false},
};

}  // namespace tutti::detail
