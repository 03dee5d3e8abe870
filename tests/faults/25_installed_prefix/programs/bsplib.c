/* SPDX-License-Identifier: Apache-2.0
 *
 * Each process puts its number into the memory of process 0.
 */
#include <stdio.h>

#include <lpf/bsplib.h>

static void spmd(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  int all[16] = {0}, mine = (int)pid + 1;
  bsplib_t bsp;
  (void)args;
  if (bsplib_create(ctx, pid, nprocs, 0, 0, &bsp) != BSPLIB_SUCCESS) return;
  bsplib_push_reg(bsp, all, sizeof all);
  bsplib_sync(bsp);
  bsplib_put(bsp, 0, &mine, all, pid * sizeof mine, sizeof mine);
  bsplib_sync(bsp);
  if (pid == 0 && all[0] == 1 && all[nprocs - 1] == (int)nprocs) printf("bsplib: %u ranks\n", nprocs);
  bsplib_destroy(bsp);
}

int main(void) { return lpf_exec(LPF_ROOT, LPF_MAX_P, &spmd, LPF_NO_ARGS) == LPF_SUCCESS ? 0 : 1; }
