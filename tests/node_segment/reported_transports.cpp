// SPDX-License-Identifier: Apache-2.0
//
// The reports of the transports name the rank that prevents a better one: TUTTI_SHM of one rank, a
// rank that may not read another one, and MPI_THREAD_MULTIPLE.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>

#include "mpi_program.hpp"
#include "refused_reads.hpp"

namespace {

using namespace tests;

bool several_threads = false;

// Makes an endpoint while the last rank has this value of TUTTI_SHM, and requires a fact.
void require_fact(const char* of_last_rank, const std::string& fact) {
  const bool is_last = here_is.rank == here_is.size - 1;
  setenv("TUTTI_SHM", is_last ? of_last_rank : "copy", 1);
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  std::string all;
  for (const std::string& one : ep.transports()) all += one + "\n";
  require(all.find(fact) != std::string::npos, "\"" + fact + "\" is not among these:\n" + all);
  ep.end();
}

void run_all() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  const std::string last = std::to_string(here_is.size - 1);
  if (several_threads) {
    require(level == MPI_THREAD_MULTIPLE, "this MPI has no MPI_THREAD_MULTIPLE");
    require_fact("copy", "MPI carries all data of the node: rank 0 uses MPI_THREAD_MULTIPLE\n");
    require_fact("off", "MPI carries all data of the node: TUTTI_SHM is off on rank " + last + "\n");
    return;
  }
  require_fact("copy", "messages of schedules and of the program between ranks of a node use its memory\n");
  require_fact("cells",
               "no rank copies from the memory of another: TUTTI_SHM is cells on rank " + last + "\n");
  require_fact("off", "MPI carries all data of the node: TUTTI_SHM is off on rank " + last + "\n");
  const bool is_last = here_is.rank == here_is.size - 1;
  int refused = is_last && refuse_reads() ? 1 : 0;
  MPI_Bcast(&refused, 1, MPI_INT, here_is.size - 1, MPI_COMM_WORLD);
  if (refused == 1)
    require_fact("copy", "no rank copies from the memory of another: rank " + last +
                             " of the node may not read the memory of rank 0\n");
}

}  // namespace

int main(int argc, char** argv) {
  several_threads = argc > 1 && std::string(argv[1]) == "several_threads";
  tests::run_test(argc, argv, run_all, several_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
}
