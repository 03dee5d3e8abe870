/* SPDX-License-Identifier: Apache-2.0
 *
 * A third-party program in C that uses only installed files of LPF.
 */
#include <stdio.h>

#include <lpf/abort.h>
#include <lpf/collectives.h>
#include <lpf/core.h>
#include <lpf/pthread.h>

static void spmd(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  if (pid == 0) *(lpf_pid_t*)args.output = nprocs;
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
}

int main(void) {
  lpf_pid_t p = 0;
  lpf_args_t args = LPF_NO_ARGS;
  args.output = &p;
  args.output_size = sizeof p;
  if (lpf_exec(LPF_ROOT, LPF_MAX_P, &spmd, args) != LPF_SUCCESS) return 1;
  printf("%u processes\n", p);
  return 0;
}
