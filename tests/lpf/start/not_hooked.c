/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that hooks, without having set that its processes shall not wait. The process in
 * main gets an error, and no process blocks forever.
 */
#define _POSIX_C_SOURCE 200809L

#include "lpf/mpi.h"
#include "roll.h"

static void never(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)ctx, (void)pid, (void)nprocs, (void)args;
  CHECK(0);
}

int main(void) {
  lpf_init_t init = &init;
  int begun = 0;
  MPI_Initialized(&begun);
  CHECK(begun);
  CHECK(lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init) == LPF_ERR_FATAL && init == LPF_INIT_NONE);
  CHECK(lpf_mpi_initialize_over_tcp("localhost", "23149", 60000, 0, 2, &init) == LPF_ERR_FATAL);
  CHECK(lpf_hook(init, &never, LPF_NO_ARGS) == LPF_ERR_FATAL);
  /* The reference to lpf_exec() makes the other processes wait before main. */
  return lpf_exec(LPF_ROOT, 0, &never, LPF_NO_ARGS) == LPF_ERR_FATAL ? 0
                                                                     : 1;
}
