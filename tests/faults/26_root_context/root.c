/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests that LPF_ROOT registers, resizes, puts, gets and syncs outside of all sections: before,
 * between and after them. Collectives, BSMP and BSPlib work on it. Within a section only
 * lpf_exec() and lpf_probe() accept it. They run a section that the other processes do not join.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lpf/lpf_check.h"
#include "lpf/bsp.h"

#define OK(call) CHECK((call) == LPF_SUCCESS)

static void twice(size_t n, const void* array, void* value) {
  size_t i;
  for (i = 0; i < n; ++i) *(int*)value += ((const int*)array)[i];
}

static void alone(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  CHECK(pid == 0 && nprocs == 1 && ctx != LPF_ROOT);
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  *(int*)args.output = 17;
}

static void count(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  if (pid == 0) *(int*)args.output = (int)nprocs;
}

/* Under a launcher the other processes are in the section. On the embedded engines the call makes
 * TUTTI_RANKS new processes. */
static void exec_on_root(int nprocs) {
  int out = 0;
  lpf_args_t args = LPF_NO_ARGS;
  lpf_machine_t machine;
  args.output = &out;
  args.output_size = sizeof out;
  OK(lpf_exec(LPF_ROOT, 1, &alone, args));
  CHECK(out == 17);
  OK(lpf_exec(LPF_ROOT, LPF_MAX_P, &count, args));
  CHECK(out == (getenv("TUTTI_RANKS") != NULL ? nprocs : 1));
  /* The machine is that of the outer section. */
  OK(lpf_probe(LPF_ROOT, &machine));
  CHECK((int)machine.p >= nprocs && (int)machine.free_p == (getenv("TUTTI_RANKS") != NULL ? nprocs : 1));
}

static void section(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  lpf_memslot_t slot;
  int x = 1;
  (void)args;
  exec_on_root((int)nprocs);                        /* every process */
  if (pid == nprocs - 1) exec_on_root((int)nprocs); /* one process */
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  CHECK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
  CHECK(lpf_register_local(LPF_ROOT, &x, sizeof x, &slot) == LPF_ERR_FATAL);
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

static void messages(int* from, int* into) {
  lpf_memslot_t local, global, more;
  /* The same as in LPF's functional tests: nothing has capacity before the resize, and the
   * resize takes effect at the sync. */
  CHECK(lpf_register_local(LPF_ROOT, from, sizeof *from, &local) == LPF_ERR_OUT_OF_MEMORY);
  OK(lpf_resize_message_queue(LPF_ROOT, 4));
  OK(lpf_resize_memory_register(LPF_ROOT, 4));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  OK(lpf_register_local(LPF_ROOT, from, 4 * sizeof *from, &local));
  OK(lpf_register_global(LPF_ROOT, into, 4 * sizeof *into, &global));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  OK(lpf_put(LPF_ROOT, local, 0, 0, global, sizeof *into, sizeof *into, LPF_MSG_DEFAULT));
  OK(lpf_get(LPF_ROOT, 0, global, 0, local, sizeof *from, sizeof *from, LPF_MSG_DEFAULT));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  CHECK(into[1] == from[0] && from[1] == into[0] && from[0] != into[0]);
  CHECK(lpf_resize_message_queue(LPF_ROOT, (size_t)-1) == LPF_ERR_OUT_OF_MEMORY);
  OK(lpf_deregister(LPF_ROOT, local));
  OK(lpf_register_local(LPF_ROOT, into, sizeof *into, &more));
  OK(lpf_deregister(LPF_ROOT, more));
  OK(lpf_deregister(LPF_ROOT, global));
}

static void layers(void) {
  lpf_coll_t coll;
  lpf_memslot_t slot;
  lpf_bsmp_t bsmp = LPF_INVALID_BSMP;
  bsplib_t bsp;
  int x = 3, y = 5;
  OK(lpf_resize_memory_register(LPF_ROOT, 8));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  OK(lpf_register_global(LPF_ROOT, &x, sizeof x, &slot));
  OK(lpf_collectives_init(LPF_ROOT, 0, 1, 1, sizeof x, sizeof x, &coll));
  CHECK(coll.P == 1 && coll.s == 0 && coll.ctx == LPF_ROOT && lpf_collectives_get_context(coll) == LPF_ROOT);
  OK(lpf_bsmp_create(LPF_ROOT, 0, 1, 8, 0, 1, &bsmp));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  OK(lpf_allreduce(coll, &x, slot, sizeof x, &twice));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  CHECK(x == 3);
  OK(lpf_bsmp_destroy(&bsmp));
  OK(lpf_collectives_destroy(coll));
  OK(lpf_deregister(LPF_ROOT, slot));
  CHECK(bsplib_create(LPF_ROOT, 0, 1, 1, 1, &bsp) == BSPLIB_SUCCESS);
  CHECK(bsplib_push_reg(bsp, &x, sizeof x) == BSPLIB_SUCCESS && bsplib_sync(bsp) == BSPLIB_SUCCESS);
  CHECK(bsplib_put(bsp, 0, &y, &x, 0, sizeof x) == BSPLIB_SUCCESS && bsplib_sync(bsp) == BSPLIB_SUCCESS &&
        x == 5);
  CHECK(bsplib_destroy(bsp) == BSPLIB_SUCCESS);
}

int main(void) {
  int from[4] = {1, 2, 3, 4}, into[4] = {7, 8, 9, 10}, out = 0;
  lpf_args_t args = LPF_NO_ARGS;
  lpf_machine_t machine;
  messages(from, into);
  OK(lpf_exec(LPF_ROOT, LPF_MAX_P, &section, LPF_NO_ARGS));
  OK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT));
  OK(lpf_probe(LPF_ROOT, &machine));
  CHECK(machine.p >= 1 && machine.free_p == machine.p);
  layers();
  args.output = &out;
  args.output_size = sizeof out;
  OK(lpf_rehook(LPF_ROOT, &alone, args));
  CHECK(out == 17);
  OK(lpf_exec(LPF_ROOT, LPF_MAX_P, &section, LPF_NO_ARGS));
  /* An error fails this context permanently, and nothing else. */
  CHECK(lpf_deregister(LPF_ROOT, 4711) == LPF_ERR_FATAL);
  CHECK(lpf_sync(LPF_ROOT, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
  return 0;
}
