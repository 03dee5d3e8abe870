// SPDX-License-Identifier: Apache-2.0
//
// What tutti's calls take in front of MPI's: the same call by tutti and by hand (bench/mpi/overhead_native),
// counted in the same way on both MPIs. One rank is counted whole; of two ranks, where MPI waits for as long
// as the other takes, only what is not MPI's.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace bench {

/// Of 8 bytes, all counts given, buffers passed. allgatherv and send are of two ranks.
inline constexpr const char* calls_in_front[] = {"allreduce", "allgatherv", "alltoallv", "bcast", "send"};

/// Makes the call so often, over MPI.
void call_in_front(const std::string& what, long calls);

/// `me`: the path of the program that obeys `--in-front WHAT --calls N`. For each MPI found and each call the
/// instructions of both, and their difference.
nlohmann::ordered_json measure_in_front(const std::string& me);
void print_in_front(const nlohmann::ordered_json& measured);

}  // namespace bench
