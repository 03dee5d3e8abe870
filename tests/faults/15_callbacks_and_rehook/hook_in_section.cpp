// SPDX-License-Identifier: Apache-2.0
//
// Three threads of the program hook. Within the section one of them hooks again while the others
// sync.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "lpf/pthread.h"

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED %s\n", what);
  std::fflush(nullptr);
  std::_Exit(3);
}

void inner(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS, "lpf_sync within");
}

void outer(lpf_t ctx, lpf_pid_t pid, lpf_pid_t, lpf_args_t args) {
  const lpf_init_t init = *static_cast<const lpf_init_t*>(args.input);
  check(lpf_hook(init, inner, LPF_NO_ARGS) == LPF_SUCCESS, "lpf_hook by all");
  const lpf_err_t code = pid == 1 ? lpf_hook(init, inner, LPF_NO_ARGS) : lpf_sync(ctx, LPF_SYNC_DEFAULT);
  check(code == LPF_ERR_FATAL, "lpf_hook beside lpf_sync");
  check(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL, "lpf_sync after it");
}

void thread(lpf_pid_t pid) {
  lpf_init_t init = LPF_INIT_NONE;
  check(lpf_pthread_initialize(pid, 3, &init) == LPF_SUCCESS, "lpf_pthread_initialize");
  lpf_args_t args = LPF_NO_ARGS;
  args.input = &init;
  args.input_size = sizeof init;
  check(lpf_hook(init, outer, args) == LPF_ERR_FATAL, "the section");
  check(lpf_hook(init, inner, LPF_NO_ARGS) == LPF_SUCCESS, "a section after it");
  check(lpf_pthread_finalize(init) == LPF_SUCCESS, "lpf_pthread_finalize");
}

}  // namespace

int main() {
  std::vector<std::thread> all;
  for (lpf_pid_t pid = 0; pid < 3; ++pid) all.emplace_back(thread, pid);
  for (std::thread& one : all) one.join();
  std::fprintf(stderr, "all processes have ended\n");
}
