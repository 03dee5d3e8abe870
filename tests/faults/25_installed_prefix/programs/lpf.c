/* SPDX-License-Identifier: Apache-2.0
 *
 * Each process puts its number into the memory of process 0.
 */
#include <stdio.h>

#include <lpf/core.h>

static void spmd(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  lpf_pid_t all[16] = {0}, mine = pid + 1;
  lpf_memslot_t from, to;
  (void)args;
  lpf_resize_memory_register(ctx, 2);
  lpf_resize_message_queue(ctx, nprocs);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
  lpf_register_local(ctx, &mine, sizeof mine, &from);
  lpf_register_global(ctx, all, sizeof all, &to);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
  lpf_put(ctx, from, 0, 0, to, pid * sizeof mine, sizeof mine, LPF_MSG_DEFAULT);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
  if (pid == 0 && all[0] == 1 && all[nprocs - 1] == nprocs) printf("lpf: %u ranks\n", nprocs);
}

int main(void) { return lpf_exec(LPF_ROOT, LPF_MAX_P, &spmd, LPF_NO_ARGS) == LPF_SUCCESS ? 0 : 1; }
