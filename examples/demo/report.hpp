// SPDX-License-Identifier: Apache-2.0
//
// What the demo found, for people (aligned tables) and for scripts (JSON).
#pragma once

#include <vector>

#include "engines.hpp"

namespace demo {

/// Every outcome there and right, and the results equal, bit for bit, on all engines.
bool all_equal(const std::vector<run>&);

void print_tables(const material&, const plan&, const std::vector<run>&);
void print_json(const material&, const plan&, const std::vector<run>&);

}  // namespace demo
