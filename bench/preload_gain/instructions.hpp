// SPDX-License-Identifier: Apache-2.0
//
// Counts the instructions of a call that the preload library forwards to MPI (callgrind). It uses
// calls of one rank, with "native" as the algorithm and with the built-in trees, beside the same
// program alone.
#pragma once

#include <nlohmann/json.hpp>

#include "preload_gain/jobs.hpp"

namespace bench {

/// The values are -1 if counting failed.
nlohmann::ordered_json count_instructions(const std::vector<preload_mpi>& mpis, progress& log);
void print_instructions(const nlohmann::ordered_json& counted);

}  // namespace bench
