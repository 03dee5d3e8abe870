// SPDX-License-Identifier: Apache-2.0
//
// Tests that a failing nonblocking call invokes the error handler of its own communicator once, and
// no other. MPI_Wait must return the same error.
#include <mpi.h>
#include <stdio.h>

static MPI_Comm tested[2];
static int handled[2];

static void count(MPI_Comm* comm, int* code, ...) {
  (void)code;
  for (int i = 0; i < 2; ++i)
    if (*comm == tested[i]) ++handled[i];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, failed = 0;
  MPI_Errhandler handler;
  tested[0] = MPI_COMM_WORLD;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &tested[1]);
  MPI_Comm_create_errhandler(count, &handler);
  MPI_Barrier(tested[1]);
  for (int i = 0; i < 2; ++i) MPI_Comm_set_errhandler(tested[i], handler);
  // The error is detected when the call begins, or (rounds 2 and 3) later, because the root then
  // comes last.
  for (int round = 0; round < 4; ++round) {
    const int i = round % 2, before[2] = {handled[0], handled[1]};
    int data[20] = {0}, kind = MPI_SUCCESS;
    MPI_Request request;
    if (round >= 2 && rank == 0) MPI_Recv(data, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibcast(data, rank == 0 ? 20 : 10, MPI_INT, 0, tested[i], &request);
    if (round >= 2 && rank == 1) MPI_Send(data, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &kind);
    for (int k = 0; k < 2; ++k)
      if (handled[k] - before[k] != (rank != 0 && k == i)) {
        printf("rank %d: the handler of communicator %d ran %d times for an error on %d\n", rank, k,
               handled[k] - before[k], i);
        failed = 1;
      }
    if (kind != (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE)) {
      printf("rank %d: MPI_Wait returns class %d on communicator %d\n", rank, kind, i);
      failed = 1;
    }
  }
  if (failed) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&tested[1]);
  MPI_Finalize();
  return 0;
}
