/* SPDX-License-Identifier: Apache-2.0
 *
 * late_sum CALL SECONDS: tests the preload library on three ranks. Rank 1 has begun a sum and waits
 * in a blocking call of MPI. Rank 0 waits for the sum before it makes that call, and rank 2
 * begins its part of the sum SECONDS later. So rank 1 must do its part of the sum inside the
 * call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "FAILED %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void block(const char* call, MPI_Win window) {
  MPI_Comm made;
  if (strcmp(call, "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(call, "comm_dup") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
  } else if (strcmp(call, "win_fence") == 0) {
    MPI_Win_fence(0, window);
  } else {
    check(0, "there is no such call");
  }
}

int main(int argc, char** argv) {
  enum { n = 50000 };
  int rank, size, shared = 0;
  MPI_Comm other;
  MPI_Win window;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  check(argc == 3, "late CALL SECONDS");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Win_create(&shared, sizeof shared, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
  for (int i = 0; i < n; ++i) in[i] = i;
  if (rank == 2) sleep((unsigned)atoi(argv[2]));
  MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, other, &request);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  block(argv[1], window);
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(out[n - 1] == (n - 1) * size, "the sum");
  free(in);
  free(out);
  MPI_Win_free(&window);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
