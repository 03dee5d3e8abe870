/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in C99: what the machine reports, and a superstep with everything. Each failed check
 * ends the process, and with it the test.
 */
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lpf/abort.h"
#include "lpf/collectives.h"
#include "lpf/core.h"
#include "lpf/pthread.h"

/* Usable in static initializers, as LPF's documents promise. */
static lpf_coll_t none;

static void fail(lpf_pid_t pid, int line, const char* what) {
  fprintf(stderr, "FAILED process %u, line %d: %s\n", pid, line, what);
  fflush(NULL);
  _Exit(3);
}
#define CHECK(condition) ((condition) ? (void)0 : fail(pid, __LINE__, #condition))

enum { figures = 8 * 7 };

/* Queries the machine with small, large and unusual arguments. */
static void query(lpf_machine_t m, double all[2 * figures]) {
  const lpf_pid_t p[8] = {0, 1, 2, 3, 100, 65536, UINT_MAX / 2, UINT_MAX};
  const size_t bytes[7] = {0, 1, 8, 1000, 1 << 20, SIZE_MAX / 2, SIZE_MAX};
  int i, k, n = 0;
  for (i = 0; i < 8; ++i)
    for (k = 0; k < 7; ++k) {
      all[n++] = m.g(p[i], bytes[k], LPF_SYNC_DEFAULT);
      all[n++] = m.l(p[i], bytes[k], LPF_SYNC_DEFAULT);
    }
}

static int is_positive_and_finite(double x) { return x > 0 && x <= DBL_MAX; }

static void largest(size_t n, const void* from, void* into) {
  size_t i;
  for (i = 0; i < n; ++i)
    if (((const unsigned*)from)[i] > ((unsigned*)into)[i]) ((unsigned*)into)[i] = ((const unsigned*)from)[i];
}

static void probes(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  lpf_machine_t m = LPF_INVALID_MACHINE;
  double first[2 * figures], second[2 * figures], of_process_0[2 * figures];
  lpf_memslot_t local, global;
  int i;
  (void)args;
  CHECK(lpf_probe(ctx, &m) == LPF_SUCCESS);
  CHECK(m.p >= nprocs && m.free_p >= 1 && (m.p != nprocs || m.free_p == 1));
  query(m, first);
  for (i = 0; i < 2 * figures; ++i) CHECK(is_positive_and_finite(first[i]));
  CHECK(lpf_probe(ctx, &m) == LPF_SUCCESS);
  query(m, second);
  CHECK(memcmp(first, second, sizeof first) == 0);
  CHECK(lpf_resize_memory_register(ctx, 2) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 2 * nprocs) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, first, sizeof first, &global) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, of_process_0, sizeof of_process_0, &local) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_get(ctx, 0, global, 0, local, 0, sizeof first, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(memcmp(first, of_process_0, sizeof first) == 0);
}

static void supersteps(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  unsigned max_value = 10 + (pid * 7 + 3) % nprocs, sent = pid, got = 0, from_next = 0;
  lpf_memslot_t a, b, c, d;
  lpf_coll_t coll = LPF_INVALID_COLL;
  CHECK(args.f_size == 1 && args.f_symbols[0] == (lpf_func_t)largest);
  CHECK(memcmp(&none, &LPF_INVALID_COLL, sizeof none) == 0);
  CHECK(lpf_broadcast(none, 0, 0, 1, 0) == LPF_ERR_FATAL);
  CHECK(lpf_resize_memory_register(ctx, 5) == LPF_SUCCESS);
  CHECK(lpf_resize_message_queue(ctx, 2 * nprocs + 4) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_collectives_init(ctx, pid, nprocs, 1, sizeof max_value, 0, &coll) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, &max_value, sizeof max_value, &a) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, &sent, sizeof sent, &b) == LPF_SUCCESS);
  CHECK(lpf_register_global(ctx, &got, sizeof got, &c) == LPF_SUCCESS);
  CHECK(lpf_register_local(ctx, &from_next, sizeof from_next, &d) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_put(ctx, b, 0, (pid + 1) % nprocs, c, 0, sizeof sent, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_get(ctx, (pid + 1) % nprocs, b, 0, d, 0, sizeof from_next, LPF_MSG_DEFAULT) == LPF_SUCCESS);
  CHECK(lpf_allreduce(coll, &max_value, a, sizeof max_value, largest) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(got == (pid + nprocs - 1) % nprocs && from_next == (pid + 1) % nprocs);
  CHECK(max_value >= 10 && max_value <= 9 + nprocs);
  CHECK(max_value >= 10 + (pid * 7 + 3) % nprocs);
  CHECK(lpf_collectives_destroy(coll) == LPF_SUCCESS);
  CHECK(lpf_deregister(ctx, a) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

int main(void) {
  const lpf_pid_t pid = 0;
  const lpf_func_t symbols[1] = {(lpf_func_t)largest};
  lpf_args_t args = LPF_NO_ARGS;
  lpf_machine_t m;
  double all[2 * figures];
  int i;
  CHECK(_LPF_VERSION == 202000L && _LPF_COLLECTIVES_VERSION == 201500L);
  CHECK(LPF_SUCCESS != LPF_ERR_FATAL && LPF_SUCCESS != LPF_ERR_OUT_OF_MEMORY &&
        LPF_ERR_FATAL != LPF_ERR_OUT_OF_MEMORY);
  CHECK(LPF_ROOT != LPF_NONE && LPF_MAX_P > 1000000);
  CHECK(lpf_probe(LPF_ROOT, &m) == LPF_SUCCESS);
  CHECK(m.p >= 1 && m.free_p >= 1 && m.free_p <= m.p);
  query(m, all);
  for (i = 0; i < 2 * figures; ++i) CHECK(is_positive_and_finite(all[i]));
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, probes, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_exec(LPF_ROOT, 1, probes, LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, probes, LPF_NO_ARGS) == LPF_SUCCESS);
  args.f_symbols = symbols;
  args.f_size = 1;
  CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, supersteps, args) == LPF_SUCCESS);
  return 0;
}
