// SPDX-License-Identifier: Apache-2.0
//
// Measures the overhead of tutti over MPI: the same call by tutti and by hand
// (bench/mpi/overhead_native), counted in the same way on both MPIs. With one rank all instructions
// count. With two ranks MPI waits as long as the other rank takes, so only instructions outside MPI
// count.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace bench {

/// Calls of 8 bytes with all counts given and buffers passed. allgatherv and send use two ranks.
inline constexpr const char* calls_over_mpi[] = {"allreduce", "allgatherv", "alltoallv", "bcast", "send"};

/// Makes the call `calls` times, over MPI.
void call_over_mpi(const std::string& what, long calls);

/// `me`: the path of the program that implements `--over-mpi WHAT --calls N`. Returns, for each MPI
/// and each call, the instructions of both and their difference.
nlohmann::ordered_json measure_over_mpi(const std::string& me);
void print_over_mpi(const nlohmann::ordered_json& measured);

}  // namespace bench
