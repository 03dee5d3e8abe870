// SPDX-License-Identifier: Apache-2.0
//
// Prints the results of the demo as aligned tables and as JSON.
#pragma once

#include <vector>

#include "engines.hpp"

namespace demo {

/// True if every outcome is present and right, and all engines have bitwise equal results.
bool all_equal(const std::vector<run>&);

void print_tables(const material&, const plan&, const std::vector<run>&);
void print_json(const material&, const plan&, const std::vector<run>&);

}  // namespace demo
