/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <lpf/mpi.h>

const int LPF_MPI_AUTO_INITIALIZE = 0;

static void spmd(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)args;
  if (lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS && pid == 0) printf("%u processes\n", nprocs);
}

int main(int argc, char** argv) {
  lpf_init_t init;
  lpf_err_t code;
  MPI_Init(&argc, &argv);
  code = lpf_mpi_initialize_with_mpicomm(MPI_COMM_WORLD, &init);
  if (code == LPF_SUCCESS) code = lpf_hook(init, &spmd, LPF_NO_ARGS);
  if (code == LPF_SUCCESS) code = lpf_mpi_finalize(init);
  MPI_Finalize();
  return code;
}
