/* SPDX-License-Identifier: Apache-2.0
 *
 * More processes than memory allows: none runs, and the next section does.
 */
#define _POSIX_C_SOURCE 200809L

#include <sys/resource.h>

#include "lpf/core.h"
#include "roll.h"

static void sign(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)ctx, (void)nprocs, (void)args;
  roll_sign(pid);
}

int main(void) {
  struct rlimit limit = {(rlim_t)1 << 30,
                         (rlim_t)1 << 30};  /* of address space, which the stacks of threads use */
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  remove(roll_name());
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &sign, LPF_NO_ARGS) == LPF_ERR_OUT_OF_MEMORY);
  CHECK(lpf_exec(LPF_ROOT, 2, &sign, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(roll_is(2, 1));
  return 0;
}
