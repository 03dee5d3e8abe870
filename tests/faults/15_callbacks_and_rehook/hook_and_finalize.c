/* SPDX-License-Identifier: Apache-2.0
 *
 * Process 1 hooks, and the others finalize, or sync within a section. All processes get an error
 * and none blocks. After MPI_Finalize() no communication happens.
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

static void hooks_within(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  const lpf_init_t init = *(const lpf_init_t*)args.input;
  (void)nprocs;
  check(lpf_mpi_finalize(init) == LPF_ERR_FATAL, "lpf_mpi_finalize within a section");
  check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_SUCCESS, "lpf_hook within a section");
  check((pid == 1 ? lpf_hook(init, spmd, LPF_NO_ARGS) : lpf_sync(ctx, LPF_SYNC_DEFAULT)) == LPF_ERR_FATAL,
        "lpf_hook beside lpf_sync");
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL, "lpf_sync after it");
}

int main(int argc, char** argv) {
  lpf_init_t init;
  lpf_args_t args = LPF_NO_ARGS;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init) == LPF_SUCCESS, "initialize");
  check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_SUCCESS, "lpf_hook");
  args.input = &init;
  args.input_size = sizeof init;
  check(lpf_hook(init, hooks_within, args) == LPF_ERR_FATAL, "the section of these");
  if (rank == 1) {
    check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_ERR_FATAL, "lpf_hook beside lpf_mpi_finalize");
    check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_ERR_FATAL, "lpf_hook again");
  }
  check(lpf_mpi_finalize(init) == LPF_ERR_FATAL, "lpf_mpi_finalize beside lpf_hook");
  check(lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init) == LPF_SUCCESS, "initialize");
  check(lpf_mpi_finalize(init) == LPF_SUCCESS, "lpf_mpi_finalize");
  check(lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init) == LPF_SUCCESS, "initialize");
  MPI_Finalize();
  check(lpf_hook(init, spmd, LPF_NO_ARGS) == LPF_ERR_FATAL, "lpf_hook after MPI_Finalize");
  check(lpf_mpi_finalize(init) == LPF_SUCCESS, "lpf_mpi_finalize after MPI_Finalize");
  return 0;
}
