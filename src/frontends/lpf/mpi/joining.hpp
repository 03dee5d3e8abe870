// SPDX-License-Identifier: Apache-2.0
//
// Makes an MPI communicator of processes that have agreed to join.
#pragma once

#include <chrono>
#include <vector>

#include <mpi.h>

namespace tutti::lpf {

/// Throws engine_error if MPI's function has failed.
void check(int code, const char* function);

/// Whether process `pid` of these ranks of MPI_COMM_WORLD receives a message from the one before it
/// in time. It does not if the processes belong to different jobs. All of them call it. `nonce`
/// must be unique to this call.
bool receives_from_neighbor(const std::vector<int>& ranks, int pid, unsigned long long nonce,
                            std::chrono::steady_clock::time_point until);

/// A communicator of these ranks of MPI_COMM_WORLD, in this order. Only they call it.
MPI_Comm make_communicator(const std::vector<int>& ranks);

}  // namespace tutti::lpf
