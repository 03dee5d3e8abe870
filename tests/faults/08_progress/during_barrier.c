/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests the preload library: all ranks except 0 have begun a collective of tutti and wait in a
 * barrier of MPI. Rank 0 enters the barrier before it begins its part, or after that is
 * complete. Neither may delay the others for long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "FAILED %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void begin(int* in, int* out, int n, MPI_Comm comm, MPI_Request* request) {
  for (int i = 0; i < n; ++i) in[i] = i;
  MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, comm, request);
}

int main(int argc, char** argv) {
  int rank, size;
  enum { n = 50000 };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
  for (int turn = 0; turn < 6; ++turn) {
    MPI_Request request;
    double began = MPI_Wtime();
    if (rank != 0) {
      begin(in, out, n, other, &request);
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (turn % 2 == 0) {
      begin(in, out, n, other, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      begin(in, out, n, other, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(out[n - 1] == (n - 1) * size, "the sum");
    check(MPI_Wtime() - began < 8, "a rank waited for long");
  }
  free(in);
  free(out);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
