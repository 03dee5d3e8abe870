// SPDX-License-Identifier: Apache-2.0
//
// What the engines whose ranks share memory say of themselves alike, known without a job.
#pragma once

#include "core/signature.hpp"
#include "engines/endpoint.hpp"

namespace tutti {

/// Their native collectives, which lay results directly into one another's memory.
bool embedded_offers(const agreed_signature& s) noexcept;

inline constexpr engine_condition embedded_conditions[] = {
    {"oversubscribed", "there are more ranks than cores that they may use", false},
};

}  // namespace tutti
