// SPDX-License-Identifier: Apache-2.0
//
// Compatibility with KaMPIng 0.2. A program includes this header in place of <kamping/...> and
// compiles unchanged, over MPI; tutti executes its calls. Link tutti::mpi. docs/from-kamping.md
// lists the tutti equivalent of each call, and the intended differences:
// - Errors that abort in KaMPIng throw an MpiErrorException here.
// - The destructor of an unfinished call waits, so that no buffer dies while it is in use.
// - A copy of a communicator is local and does not duplicate it.
// - An operator keeps the captures of the call that received it.
//
// This header compiles more slowly than tutti.hpp and is meant for existing programs. New programs
// should use tutti itself, which also runs without MPI.
//
// ```cpp
// #include <tutti/kamping.hpp>
// #include <vector>
//
// int main(int argc, char** argv) {
//   using namespace kamping;
//   Environment e(argc, argv);
//   Communicator comm;
//   std::vector<double> v(comm.rank() + 1, 0.5);
//   auto [all, counts] = comm.allgatherv(send_buf(v), recv_counts_out());
//   return all.size() == comm.size() * (comm.size() + 1) / 2 && counts[0] == 1 ? 0 : 1;
// }
// ```
#pragma once

#include "tutti/kamping/communicator.hpp"
#include "tutti/kamping/environment.hpp"
#include "tutti/kamping/error.hpp"
#include "tutti/kamping/group.hpp"
#include "tutti/kamping/measurements.hpp"
#include "tutti/kamping/parameters.hpp"
#include "tutti/kamping/plugins.hpp"
#include "tutti/kamping/request.hpp"
#include "tutti/kamping/request_pool.hpp"
#include "tutti/kamping/status.hpp"
#include "tutti/kamping/types.hpp"
#include "tutti/kamping/utilities.hpp"
