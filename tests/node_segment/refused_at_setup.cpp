// SPDX-License-Identifier: Apache-2.0
//
// One rank may not read the memory of others, or has TUTTI_SHM=cells. Then no rank makes calls by
// address, and nothing is printed.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include <mpi.h>

#include "checked_call.hpp"
#include "mpi_program.hpp"
#include "refused_reads.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

void run_in_cells(const std::string& why) {
  captured_errors errors;
  {
    tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
    tutti::mpi::node_memory& memory = ep.memory();
    memory.set_min_bytes_by_address(1);
    require(memory.is_open() && !memory.may_copy(), "the ranks have another use of memory");
    require(!condition_of(ep, "cross_memory"), "the condition cross_memory holds");
    require(memory.why_not_copy().find(why) != std::string::npos, memory.why_not_copy());
    const auto c = ep.open_locally(all_ranks(), {1, 7});
    const auto run = [&](const call& made) { c->native(made, here); };
    check_calls<triple>(kinds_that_move, {100000}, run);
    check_calls<matrix>(kinds_that_combine, {4375}, run);
    require(memory.calls_by_address() == 0, "a call has gone by address");
    ep.end();
  }
  const std::string text = errors.text();
  require(text.find("tutti:") == std::string::npos, "there is a report: " + text);
}

void run_all() {
  const bool is_last = here_is.rank == here_is.size - 1;
  setenv("TUTTI_SHM", is_last ? "cells" : "copy", 1);
  run_in_cells("TUTTI_SHM is cells");
  setenv("TUTTI_SHM", "copy", 1);
  int refused = is_last && refuse_reads() ? 1 : 0;
  MPI_Bcast(&refused, 1, MPI_INT, here_is.size - 1, MPI_COMM_WORLD);
  if (refused == 1) run_in_cells("may not read the memory of rank");
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }
