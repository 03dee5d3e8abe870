// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "schedule/algorithm.hpp"

namespace tutti::tool {

/// docs/algorithms.md, of these algorithms, which stand in the order of the catalogue; a test compares.
std::string algorithms_document(std::span<const pure_algorithm* const> all);

}  // namespace tutti::tool
