/* SPDX-License-Identifier: Apache-2.0
 *
 * tcp PROCESSES PORT [PID]: processes that find one another at a port, in an order that is not
 * MPI's, in C99. Without PID they are processes of one job; with PID each was started alone.
 */
#define _POSIX_C_SOURCE 200809L

#include "lpf/mpi.h"
#include "roll.h"

const int LPF_MPI_AUTO_INITIALIZE = 0;

static lpf_pid_t expected_pid, all;

static void section(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)args;
  CHECK(pid == expected_pid && nprocs == all);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

static void join_and_hook(const char* port, lpf_pid_t pid, lpf_pid_t nprocs) {
  lpf_init_t init = LPF_INIT_NONE;
  expected_pid = pid;
  all = nprocs;
  CHECK(lpf_mpi_initialize_over_tcp("localhost", port, 30000, pid, nprocs, &init) == LPF_SUCCESS);
  CHECK(lpf_hook(init, &section, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_hook(init, &section, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_mpi_finalize(init) == LPF_SUCCESS);
}

static void expect_failure(const char* port, lpf_pid_t pid, lpf_pid_t nprocs, int timeout) {
  lpf_init_t init = &init;
  CHECK(lpf_mpi_initialize_over_tcp("localhost", port, timeout, pid, nprocs, &init) == LPF_ERR_FATAL);
  CHECK(init == LPF_INIT_NONE);
}

/* There is no such host, but MPI is initialized afterwards. */
static void initialize_mpi_by_call(const char* port) {
  lpf_init_t init = LPF_INIT_NONE;
  CHECK(lpf_mpi_initialize_over_tcp("no such host", port, 10, 0, 1, &init) == LPF_ERR_FATAL);
}

int main(int argc, char** argv) {
  int size, rank;
  lpf_init_t init = LPF_INIT_NONE;
  CHECK(argc > 2);
  if (argc > 3)
    MPI_Init(&argc, &argv);
  else
    initialize_mpi_by_call(argv[2]);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 3) {
    const int pid = atoi(argv[3]);
    if (size == 1 || rank == pid) expect_failure(argv[2], (lpf_pid_t)pid, (lpf_pid_t)atoi(argv[1]), 30000);
    MPI_Finalize();
    return 0;
  }
  CHECK(lpf_mpi_initialize_over_tcp("localhost", "no such service", 10, 0, 1, &init) == LPF_ERR_FATAL);
  CHECK(lpf_mpi_initialize_over_tcp(NULL, argv[2], 10, 0, 1, &init) == LPF_ERR_FATAL);
  CHECK(lpf_mpi_initialize_over_tcp("localhost", argv[2], 10, 1, 1, &init) == LPF_ERR_FATAL);
  CHECK(size == atoi(argv[1]));
  join_and_hook(argv[2], (lpf_pid_t)(size - 1 - rank), (lpf_pid_t)size);
  if (size > 1) {
    /* One of the processes is missing. */
    if (rank > 0) join_and_hook(argv[2], (lpf_pid_t)(rank - 1), (lpf_pid_t)(size - 1));
    MPI_Barrier(MPI_COMM_WORLD);
    /* One process number occurs twice. */
    if (size > 2) expect_failure(argv[2], (lpf_pid_t)(rank == 0 ? 0 : 1), (lpf_pid_t)size, 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_failure(argv[2], (lpf_pid_t)rank, (lpf_pid_t)(rank == 0 ? size : size + 1), 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_failure(argv[2], (lpf_pid_t)rank, (lpf_pid_t)(size + 1), 500);  /* one is missing */
    MPI_Barrier(MPI_COMM_WORLD);
    /* The first process is missing. */
    expect_failure(argv[2], (lpf_pid_t)(rank + 1), (lpf_pid_t)(size + 1), 500);
    MPI_Barrier(MPI_COMM_WORLD);
    join_and_hook(argv[2], (lpf_pid_t)rank, (lpf_pid_t)size);
  }
  return 0;  /* the library finalizes the MPI that it has initialized */
}
