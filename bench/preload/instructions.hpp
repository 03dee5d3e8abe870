// SPDX-License-Identifier: Apache-2.0
//
// What a call costs that the library in front of MPI hands through, in instructions (callgrind): calls of one
// rank, with "native" for an algorithm and with the built-in trees, beside the same program alone.
#pragma once

#include <nlohmann/json.hpp>

#include "preload/jobs.hpp"

namespace bench {

/// -1 where nothing could be counted.
nlohmann::ordered_json count_instructions(const std::vector<preload_mpi>& mpis, progress& told);
void print_instructions(const nlohmann::ordered_json& counted);

}  // namespace bench
