// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "schedule/algorithm.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::tool {

using namespace tutti::detail;

/// Returns docs/algorithms.md for these algorithms and compositions, in the order of their
/// catalogues. A test compares the file with it.
std::string algorithms_document(std::span<const pure_algorithm* const> all,
                                std::span<const composed_algorithm* const> composed);

}  // namespace tutti::tool
