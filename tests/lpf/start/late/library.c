/* SPDX-License-Identifier: Apache-2.0 */
#include "lpf/core.h"

void late_section(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args);
void late_section(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)ctx, (void)pid, (void)nprocs, (void)args;
}
