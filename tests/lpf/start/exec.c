/* SPDX-License-Identifier: Apache-2.0
 *
 * exec PROCESSES: calls lpf_exec() from a main in plain C99, with static functions, under any
 * launcher. PROCESSES are free.
 */
#define _POSIX_C_SOURCE 200809L

#include "lpf/core.h"
#include "roll.h"

typedef int (*int_function)(int);

static int main_runs;

static int twice(int x) { return 2 * x; }

static int half(int x) { return x / 2; }

struct task {
  unsigned processes;
};

static void count(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  CHECK(ctx != LPF_NONE && ctx != LPF_ROOT);
  CHECK(pid < nprocs);
  CHECK(args.f_size == 2 && ((int_function)args.f_symbols[0])(21) == 42);
  CHECK(((int_function)args.f_symbols[1])(42) == 21);
  if (pid == 0) {
    CHECK(args.input_size == sizeof(struct task) && args.output_size == sizeof(unsigned));
    CHECK(((const struct task*)args.input)->processes == nprocs);
    *(unsigned*)args.output = nprocs;
  } else {
    CHECK(args.input == NULL && args.input_size == 0 && args.output == NULL && args.output_size == 0);
  }
  roll_sign(pid);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

static void nothing(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)ctx, (void)pid, (void)nprocs;
  CHECK(args.f_size == 0);
}

static void inner(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  CHECK(pid < nprocs);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  if (pid == 0) *(unsigned*)args.output += nprocs;
}

static void outer(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  unsigned got = 0;
  lpf_args_t inner_args = LPF_NO_ARGS;
  (void)nprocs, (void)args;
  inner_args.output = &got;
  inner_args.output_size = sizeof got;
  if (pid % 2 == 0) {
    CHECK(lpf_exec(ctx, 1, &inner, inner_args) == LPF_SUCCESS);
    CHECK(got == 1);
    CHECK(lpf_exec(ctx, LPF_MAX_P, &inner, inner_args) == LPF_SUCCESS);
    CHECK(got >= 2);
  }
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  got = pid;
  inner_args.input = &pid;
  inner_args.input_size = sizeof pid;
  CHECK(lpf_rehook(ctx, &inner, inner_args) == LPF_SUCCESS);
  CHECK(got == (pid == 0 ? nprocs : pid));
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

static void run_section(unsigned requested, unsigned expected, const lpf_func_t* symbols) {
  struct task what;
  unsigned got = 0;
  lpf_args_t args = {&what, sizeof what, &got, sizeof got, symbols, 2};
  what.processes = expected;
  CHECK(lpf_exec(LPF_ROOT, requested, &count, args) == LPF_SUCCESS);
  CHECK(got == expected);
  CHECK(roll_is(expected, 1));
}

int main(int argc, char** argv) {
  const unsigned all = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const lpf_func_t symbols[2] = {(lpf_func_t)twice, (lpf_func_t)half};
  unsigned p;
  CHECK(++main_runs == 1);
  remove(roll_name());
  run_section(LPF_MAX_P, all, symbols);
  for (p = 1; p <= all; p = p < 3 ? p + 1 : 2 * p) run_section(p, p, symbols);
  run_section(all + 3, all, symbols);
  CHECK(lpf_exec(LPF_ROOT, 0, &nothing, LPF_NO_ARGS) == LPF_ERR_FATAL);
  CHECK(lpf_exec(LPF_NONE, 1, &nothing, LPF_NO_ARGS) == LPF_ERR_FATAL);
  CHECK(lpf_exec(LPF_ROOT, 1, NULL, LPF_NO_ARGS) == LPF_ERR_FATAL);
  for (p = 0; p < 50; ++p) CHECK(lpf_exec(LPF_ROOT, p % all + 1, &nothing, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &outer, LPF_NO_ARGS) == LPF_SUCCESS);
  run_section(LPF_MAX_P, all, symbols);
  return 0;
}
