/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that links an MPI and does not know tutti. It exits with 0 if three ranks have their
 * sum. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == ranks * (ranks - 1) / 2 && ranks == 3 ? 0 : 1;
}
