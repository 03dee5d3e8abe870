/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests that lpf/bsp.h includes everything, that lpf_coll_t contains P and s, also for strided
 * objects, and that _LPF_INCLUSIVE_MEMORY is defined.
 */
#include "../../lpf/lpf_check.h"
#include "lpf/bsp.h"

#ifndef _LPF_INCLUSIVE_MEMORY
#error "_LPF_INCLUSIVE_MEMORY is not defined"
#endif

#define OK(call) CHECK((call) == LPF_SUCCESS)

/* Uses the fields in the same way as LPF programs: each of the P members finds its own place in
 * the common array. */
static void spmd(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  static const lpf_coll_t zero = {0};
  lpf_coll_t all = LPF_INVALID_COLL, odd = LPF_INVALID_COLL;
  char area[16] = "0123456789abcde", before[4];
  lpf_memslot_t outer, inner;
  (void)args;
  CHECK(zero.P == LPF_INVALID_COLL.P && zero.s == 0 && zero.ctx == LPF_INVALID_COLL.ctx && all.P == 0);
  OK(lpf_resize_memory_register(ctx, 5));
  OK(lpf_resize_message_queue(ctx, 4 + 2 * nprocs));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  OK(lpf_collectives_init(ctx, pid, nprocs, 1, 8, 8, &all));
  CHECK(all.ctx == ctx && all.P == nprocs && all.s == pid);
  if (pid % 2 == 1) {
    OK(lpf_collectives_init_strided(ctx, pid, nprocs, 1, nprocs, 2, 1, 8, 8, &odd));
    CHECK(odd.ctx == ctx && odd.P == nprocs / 2 && odd.s == pid / 2);
  }
  /* An area within an area. */
  OK(lpf_register_global(ctx, area, sizeof area, &outer));
  OK(lpf_register_global(ctx, area + 4, 4, &inner));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  OK(lpf_put(ctx, outer, 8, (pid + 1) % all.P, inner, 0, 4, LPF_MSG_DEFAULT));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  before[0] = area[4];
  CHECK(before[0] == '8' && area[3] == '3' && area[8] == '8');
}

int main(void) {
  CHECK(_LPF_VERSION == 202000L && _LPF_COLLECTIVES_VERSION == 201500L);
  OK(lpf_exec(LPF_ROOT, LPF_MAX_P, &spmd, LPF_NO_ARGS));
  return 0;
}
