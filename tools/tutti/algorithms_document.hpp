// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "schedule/algorithm.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::tool {

/// docs/algorithms.md, of these algorithms and compositions, which stand in the order of their catalogues; a
/// test compares.
std::string algorithms_document(std::span<const pure_algorithm* const> all,
                                std::span<const composed_algorithm* const> composed);

}  // namespace tutti::tool
