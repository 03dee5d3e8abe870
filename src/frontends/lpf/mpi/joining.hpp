// SPDX-License-Identifier: Apache-2.0
//
// From processes that have agreed to come together to a communicator of MPI's.
#pragma once

#include <chrono>
#include <vector>

#include <mpi.h>

namespace tutti::lpf {

/// Throws engine_error where MPI's function has failed.
void check(int code, const char* function);

/// Whether process number `pid` of these ranks of MPI_COMM_WORLD hears from the one before it in time: not
/// where the processes are of different jobs. Called by all of them; `nonce` is of this call alone.
bool hears_neighbour(const std::vector<int>& ranks, int pid, unsigned long long nonce,
                     std::chrono::steady_clock::time_point until);

/// These ranks of MPI_COMM_WORLD, in this order. Called by them alone.
MPI_Comm among(const std::vector<int>& ranks);

}  // namespace tutti::lpf
