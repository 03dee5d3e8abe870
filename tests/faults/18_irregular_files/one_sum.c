/* SPDX-License-Identifier: Apache-2.0
 *
 * An MPI program with one collective call. */
#include <mpi.h>

int main(int argc, char** argv) {
  int one = 1, sum = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == ranks ? 0 : 1;
}
