// SPDX-License-Identifier: Apache-2.0
//
// The whole C++ API. Start with run.hpp (the start of a program), communicator.hpp (what all
// collectives share), collectives.hpp and reductions.hpp (each collective) and parameters.hpp (how
// arguments are written). messages.hpp has point-to-point messages. result.hpp, request.hpp,
// status.hpp and message.hpp have the classes that calls return; requests.hpp waits for several
// calls. graph.hpp has neighbors, and intercommunicator.hpp two groups. tutti/mpi.hpp, for
// programs that initialize MPI themselves, is not included.
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
#include "tutti/error.hpp"
#include "tutti/graph.hpp"
#include "tutti/intercommunicator.hpp"
#include "tutti/message.hpp"
#include "tutti/ops.hpp"
#include "tutti/parameters.hpp"
#include "tutti/request.hpp"
#include "tutti/requests.hpp"
#include "tutti/result.hpp"
#include "tutti/run.hpp"
#include "tutti/shared_allocator.hpp"
#include "tutti/status.hpp"
