// SPDX-License-Identifier: Apache-2.0
//
// MPI_Allreduce of one double, as often as the argument says: the yardstick of bench/overhead.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <cstdlib>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const long calls = argc > 1 ? std::atol(argv[1]) : 1;
  double mine = 0, sum = 1;
  for (long i = 0; i < calls; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    asm volatile("" : : "g"(&sum) : "memory");
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return sum == 0 ? 0 : 1;
}
