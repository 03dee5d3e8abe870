/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that links an MPI: asked what it links, and never started. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return MPI_Finalize();
}
