// SPDX-License-Identifier: Apache-2.0
//
// What the engines whose ranks share memory say of themselves alike, known without a job.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/agreed_signature.hpp"
#include "base/environment.hpp"
#include "transport/endpoint.hpp"

namespace tutti {

/// Their native collectives, which lay results directly into one another's memory.
native_offer embedded_offers(const agreed_signature& s, std::span<const std::string> holds = {}) noexcept;

/// Of the stacks on which their ranks run.
inline constexpr std::size_t min_stack = 32 << 10, max_stack = std::size_t{1} << 30,
                             usual_stack_of_fiber = 1 << 20;
inline constexpr variable stack_variable = {"TUTTI_STACK", "32K to 1G",
                                            "1M; for threads the limit of the system (ulimit -s)",
                                            "size in bytes of the stack of a rank that is a fiber or a "
                                            "thread; only pages that are touched use memory"};

inline constexpr engine_condition embedded_conditions[] = {
    {"oversubscribed", "there are more ranks than cores that they may use", false},
};

}  // namespace tutti
