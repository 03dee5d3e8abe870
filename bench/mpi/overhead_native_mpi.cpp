// SPDX-License-Identifier: Apache-2.0
//
// Hand-written MPI calls as the reference of bench/overhead: `overhead_native CALL N`. The code
// that runs N times has the same order and buffers as over_mpi.hpp. All arguments are prepared
// before.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

void use(void* p) { asm volatile("" : : "g"(p) : "memory"); }

// Only the instructions of this function are counted: see bench::counted_function.
extern "C" [[gnu::noinline]] void counted_send(const double* mine, MPI_Comm comm) {
  MPI_Send(mine, 1, MPI_DOUBLE, 1, 0, comm);
}

// Rank 0 sends to rank 1, which replies from time to time, so that no queue overflows.
void sends(long calls, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  double x = 0;
  for (long i = 0; i < calls; ++i) {
    if (rank == 0)
      counted_send(&x, comm);
    else
      MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);
    if (i % 8 != 0) continue;
    if (rank == 0)
      MPI_Recv(&x, 1, MPI_DOUBLE, 1, 0, comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const std::string what = argc > 1 ? argv[1] : "";
  const long calls = argc > 2 ? std::atol(argv[2]) : 1;
  int size = 1;
  MPI_Comm_size(comm, &size);
  const auto p = static_cast<std::size_t>(size);
  std::vector<double> mine(p), all(p);
  std::vector<int> counts(p, 1), displs(p);
  for (std::size_t i = 0; i < p; ++i) displs[i] = static_cast<int>(i);
  bool found = true;
  if (what == "allreduce")
    for (long i = 0; i < calls; ++i) {
      MPI_Allreduce(mine.data(), all.data(), 1, MPI_DOUBLE, MPI_SUM, comm);
      use(all.data());
    }
  else if (what == "allgatherv")
    for (long i = 0; i < calls; ++i) {
      MPI_Allgatherv(mine.data(), 1, MPI_DOUBLE, all.data(), counts.data(), displs.data(), MPI_DOUBLE, comm);
      use(all.data());
    }
  else if (what == "alltoallv")
    for (long i = 0; i < calls; ++i) {
      MPI_Alltoallv(mine.data(), counts.data(), displs.data(), MPI_DOUBLE, all.data(), counts.data(),
                    displs.data(), MPI_DOUBLE, comm);
      use(all.data());
    }
  else if (what == "bcast")
    for (long i = 0; i < calls; ++i) {
      MPI_Bcast(all.data(), 1, MPI_DOUBLE, 0, comm);
      use(all.data());
    }
  else if (what == "send")
    sends(calls, comm);
  else
    found = false;
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return found ? 0 : 2;
}
