/* SPDX-License-Identifier: Apache-2.0
 *
 * Process 1 hooks, the others finalize: all find out, and nobody waits.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lpf/mpi.h"

const int LPF_MPI_AUTO_INITIALIZE = 0;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "FAILED %s\n", what);
  fflush(NULL);
  _Exit(3);
}

static void spmd(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)pid, (void)nprocs, (void)args;
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS, "lpf_sync");
}

int main(int argc, char** argv) {
  lpf_init_t init;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init) == LPF_SUCCESS, "initialize");
  check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_SUCCESS, "lpf_hook");
  if (rank == 1) {
    check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_ERR_FATAL, "lpf_hook beside lpf_mpi_finalize");
    check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_ERR_FATAL, "lpf_hook again");
  }
  check(lpf_mpi_finalize(init) == LPF_ERR_FATAL, "lpf_mpi_finalize beside lpf_hook");
  check(lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init) == LPF_SUCCESS, "initialize");
  check(lpf_mpi_finalize(init) == LPF_SUCCESS, "lpf_mpi_finalize");
  MPI_Finalize();
  return 0;
}
