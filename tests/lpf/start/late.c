/* SPDX-License-Identifier: Apache-2.0
 *
 * late PROCESSES LIBRARY: runs a function of a library that only process 0 has loaded. If
 * processes share memory, all have it. Otherwise all report an error, and the job continues.
 */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>

#include "lpf/core.h"
#include "roll.h"

static void sign(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)ctx, (void)nprocs, (void)args;
  roll_sign(pid);
}

int main(int argc, char** argv) {
  const unsigned all = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
  void* library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
  lpf_func_t late;
  lpf_args_t args = LPF_NO_ARGS;
  CHECK(library != NULL);
  *(void**)&late = dlsym(library, "late_section");
  CHECK(late != NULL);
  remove(roll_name());
  args.f_symbols = &late;
  args.f_size = 1;
  if (getenv("TUTTI_ENGINE") != NULL || all == 1) {
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, (lpf_spmd_t)late, LPF_NO_ARGS) == LPF_SUCCESS);
  } else {
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, (lpf_spmd_t)late, LPF_NO_ARGS) == LPF_ERR_FATAL);
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &sign, args) == LPF_ERR_FATAL);
  }
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &sign, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(roll_is(all, 1));
  return 0;
}
