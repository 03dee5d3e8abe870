// SPDX-License-Identifier: Apache-2.0
//
// All of the C++ face. Begin with run.hpp (where a program starts), communicator.hpp (what holds for all
// collectives), collectives.hpp and reductions.hpp (each of them) and parameters.hpp (how arguments are
// written); messages.hpp has point to point. The classes that calls return stand in result.hpp, request.hpp,
// status.hpp and message.hpp; requests.hpp waits for several calls; graph.hpp and intercommunicator.hpp have
// neighbours and two groups. tutti/mpi.hpp, for programs that start MPI
// themselves, is not included.
//
// ```cpp
// #include <cstdio>
// #include <tutti/tutti.hpp>
// #include <vector>
//
// int main(int argc, char** argv) {
//   return tutti::run(argc, argv, [](tutti::communicator& world) {
//     using namespace tutti;
//     std::vector<int> mine(world.rank() + 1, world.rank());
//     auto [all, counts] = world.allgatherv(send_buf(mine), recv_counts_out());
//     if (world.is_root()) std::printf("%zu elements of %zu ranks\n", all.size(), counts.size());
//   });
// }
// ```
#pragma once

#include "tutti/communicator.hpp"
#include "tutti/core/error.hpp"
#include "tutti/graph.hpp"
#include "tutti/intercommunicator.hpp"
#include "tutti/message.hpp"
#include "tutti/ops.hpp"
#include "tutti/parameters.hpp"
#include "tutti/request.hpp"
#include "tutti/requests.hpp"
#include "tutti/result.hpp"
#include "tutti/run.hpp"
#include "tutti/status.hpp"
