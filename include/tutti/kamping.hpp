// SPDX-License-Identifier: Apache-2.0
//
// Programs written for KaMPIng 0.2: with this header in place of those of <kamping/...> they compile as they
// are, over MPI, and tutti carries their calls out. Link tutti::mpi. docs/from-kamping.md says call by call
// what each is in tutti's own words, and what differs on purpose:
// - what aborts there throws here, an MpiErrorException;
// - a call under way that is dropped waits, so that no buffer goes while it is in use;
// - a copy of a communicator is local, and no duplicate;
// - an operator keeps the captures of the call it is given to.
//
// It costs the compiler more than tutti.hpp does, and is for programs that there are already; new ones are
// written against tutti itself, and run without MPI too.
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
