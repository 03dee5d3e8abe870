/* SPDX-License-Identifier: Apache-2.0
 *
 * hook_mpi PROCESSES: calls lpf_hook() over communicators of a program that starts MPI itself,
 * in C99.
 */
#define _POSIX_C_SOURCE 200809L

#include "lpf/mpi.h"
#include "roll.h"

const int LPF_MPI_AUTO_INITIALIZE = 0;

static void inner(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)ctx, (void)pid;
  *(lpf_pid_t*)args.output = nprocs;
}

static void section(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  lpf_pid_t got = 0;
  lpf_args_t inner_args = LPF_NO_ARGS;
  CHECK(args.input_size == sizeof pid && *(const lpf_pid_t*)args.input == pid);
  CHECK(args.output_size == sizeof nprocs);
  *(lpf_pid_t*)args.output = nprocs;
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  inner_args.output = &got;
  inner_args.output_size = sizeof got;
  CHECK(lpf_exec(ctx, LPF_MAX_P, &inner, inner_args) == LPF_SUCCESS);
  CHECK(got == 1);
  /* Each process makes a section of its own, also if only one calls. */
  got = 0;
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &inner, inner_args) == LPF_SUCCESS);
  CHECK(got == 1);
  got = 0;
  if (pid == nprocs - 1) CHECK(lpf_exec(LPF_ROOT, 1, &inner, inner_args) == LPF_SUCCESS && got == 1);
  got = 0;
  CHECK(lpf_rehook(ctx, &inner, inner_args) == LPF_SUCCESS);
  CHECK(got == nprocs);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

static void hook_over(MPI_Comm comm) {
  int rank, size, i;
  lpf_init_t init = LPF_INIT_NONE;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(lpf_mpi_initialize_with_mpicomm(comm, &init) == LPF_SUCCESS);
  for (i = 0; i < 3; ++i) {
    lpf_pid_t pid = (lpf_pid_t)rank, got = 0;
    lpf_args_t args = LPF_NO_ARGS;
    args.input = &pid;
    args.input_size = sizeof pid;
    args.output = &got;
    args.output_size = sizeof got;
    CHECK(lpf_hook(init, &section, args) == LPF_SUCCESS);
    CHECK(got == (lpf_pid_t)size);
  }
  CHECK(lpf_mpi_finalize(init) == LPF_SUCCESS);
}

int main(int argc, char** argv) {
  int size, rank;
  lpf_init_t init = LPF_INIT_NONE;
  MPI_Comm half;
  CHECK(lpf_mpi_initialize_with_mpicomm(MPI_COMM_NULL, &init) == LPF_ERR_FATAL);
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(argc > 1 && size == atoi(argv[1]));  /* all are in main */
  hook_over(MPI_COMM_WORLD);
  hook_over(MPI_COMM_SELF);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  hook_over(half);
  MPI_Comm_free(&half);
  hook_over(MPI_COMM_WORLD);
  CHECK(lpf_mpi_initialize_with_mpicomm(MPI_COMM_NULL, &init) == LPF_ERR_FATAL && init == LPF_INIT_NONE);
  CHECK(lpf_mpi_finalize(LPF_INIT_NONE) == LPF_ERR_FATAL);
  /* Outside of sections lpf_exec() never runs copies of one process. */
  CHECK(lpf_exec(LPF_ROOT, 1, &inner, LPF_NO_ARGS) == LPF_ERR_FATAL);
  MPI_Finalize();
  return 0;
}
