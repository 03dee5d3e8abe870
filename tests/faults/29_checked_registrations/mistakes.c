/* SPDX-License-Identifier: Apache-2.0
 *
 * mistakes CASE: in checked mode the case is reported, and every process gets LPF_ERR_FATAL.
 */
#include <string.h>

#include "../../lpf/lpf_check.h"
#include "lpf/bsplib.h"
#include "lpf/core.h"

#define OK(call) CHECK((call) == LPF_SUCCESS)

static const char* name = "";

static int is(const char* other) { return strcmp(name, other) == 0; }

struct memory {
  double a[8], b[8];
  lpf_memslot_t first, second, third;
};

static void prepare(lpf_t ctx, struct memory* m, size_t queue) {
  OK(lpf_resize_memory_register(ctx, 6));
  OK(lpf_resize_message_queue(ctx, queue));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  OK(lpf_register_global(ctx, m->a, sizeof m->a, &m->first));
  OK(lpf_register_global(ctx, m->b, sizeof m->b, &m->second));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

static void spmd(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  struct memory m;
  char text[16] = "";
  memset(&m, 0, sizeof m);
  /* Over MPI only process 0 knows the case. */
  if (s == 0) strcpy(text, (const char*)args.input);
  OK(lpf_resize_memory_register(ctx, 1));
  OK(lpf_resize_message_queue(ctx, 2 * p));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  OK(lpf_register_global(ctx, text, sizeof text, &m.third));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  if (s != 0) OK(lpf_get(ctx, 0, m.third, 0, m.third, 0, sizeof text, LPF_MSG_DEFAULT));
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  OK(lpf_deregister(ctx, m.third));
  if (strcmp(text, "after_bsplib") == 0) {
    /* While the BSPlib object exists, incoming messages do not count in a queue. */
    bsplib_t bsplib;
    CHECK(bsplib_create(ctx, s, p, 0, 0, &bsplib) == BSPLIB_SUCCESS);
    CHECK(bsplib_destroy(bsplib) == BSPLIB_SUCCESS);
    strcpy(text, "target");
  }
  prepare(ctx, &m, strcmp(text, "target") == 0 ? 2 : 2 * p + 2);
  if (strcmp(text, "more") == 0 && s == 1) OK(lpf_register_global(ctx, m.a, 8, &m.third));
  if (strcmp(text, "fewer") == 0 && s != 1) OK(lpf_register_global(ctx, m.a, 8, &m.third));
  if (strcmp(text, "order") == 0) {
    if (s != 1) OK(lpf_deregister(ctx, m.second));
    OK(lpf_register_global(ctx, m.a, 8, &m.third));
    if (s == 1) OK(lpf_deregister(ctx, m.second));
  }
  if (strcmp(text, "other_slot") == 0) OK(lpf_deregister(ctx, s == 1 ? m.first : m.second));
  if (strcmp(text, "target") == 0 && s != 0) {
    OK(lpf_put(ctx, m.first, 0, 0, m.second, 8 * (s % 8), 8, LPF_MSG_DEFAULT));
    OK(lpf_put(ctx, m.first, 8, 0, m.second, 8 * (s % 8), 8, LPF_MSG_DEFAULT));
  }
  if (strcmp(text, "right") == 0) {
    /* Sizes may differ between processes, and so may local slots. */
    OK(lpf_register_global(ctx, s == 0 ? NULL : m.a, s == 0 ? 0 : 8 * (s % 8), &m.third));
    if (s == 1) OK(lpf_register_local(ctx, m.a, 8, &m.third));
    OK(lpf_put(ctx, m.first, 0, 0, m.second, 8 * (s % 8), 8, LPF_MSG_DEFAULT));
    OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
    OK(lpf_deregister(ctx, m.first));
    OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
    return;
  }
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}

static void nothing(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  (void)ctx, (void)s, (void)p, (void)args;
}

static void rehooks(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  lpf_args_t inner = LPF_NO_ARGS;
  (void)p, (void)args;
  if (s == 1) inner.input_size = 8;
  /* Fails on all processes, because one is missing in the section. */
  CHECK(lpf_rehook(ctx, &nothing, inner) == LPF_ERR_FATAL);
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  inner = LPF_NO_ARGS;
  if (s == 1) inner.output_size = 8;
  /* Fails on all processes, because one is missing in the section. */
  CHECK(lpf_rehook(ctx, &nothing, inner) == LPF_ERR_FATAL);
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}

/* Each process keeps its context, which ends with the section. */
static lpf_t saved_context;
static void save_context(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_args_t args) {
  (void)p, (void)args;
  if (s == 0) saved_context = ctx;
  OK(lpf_sync(ctx, LPF_SYNC_DEFAULT));
}
static void use_ended_context(void) {
  lpf_memslot_t slot = 0;
  lpf_machine_t machine;
  int k, x = 0;
  for (k = 0; k < 200; ++k) {
    OK(lpf_exec(LPF_ROOT, LPF_MAX_P, &save_context, LPF_NO_ARGS));
    if (k % 20 != 0) continue;
    CHECK(lpf_sync(saved_context, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
    CHECK(lpf_put(saved_context, slot, 0, 0, slot, 0, 0, LPF_MSG_DEFAULT) == LPF_ERR_FATAL);
    CHECK(lpf_register_local(saved_context, &x, sizeof x, &slot) == LPF_ERR_FATAL);
    CHECK(lpf_resize_message_queue(saved_context, 1) == LPF_ERR_FATAL);
    CHECK(lpf_probe(saved_context, &machine) == LPF_ERR_FATAL);
    CHECK(lpf_rehook(saved_context, &nothing, LPF_NO_ARGS) == LPF_ERR_FATAL);
    CHECK(lpf_exec(saved_context, 1, &nothing, LPF_NO_ARGS) == LPF_ERR_FATAL);
  }
}

int main(int argc, char** argv) {
  lpf_args_t args = LPF_NO_ARGS;
  name = argc > 1 ? argv[1] : "";
  if (is("ended")) {
    use_ended_context();
  } else if (is("exec_input") || is("exec_output") || is("exec_symbols")) {
    if (is("exec_input")) args.input_size = 8;
    if (is("exec_output")) args.output_size = 8;
    if (is("exec_symbols")) args.f_size = 1;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &nothing, args) == LPF_ERR_FATAL);
  } else if (is("rehook_input") || is("rehook_output")) {
    OK(lpf_exec(LPF_ROOT, LPF_MAX_P, &rehooks, args));
  } else {
    args.input = name;
    args.input_size = strlen(name) + 1;
    CHECK(lpf_exec(LPF_ROOT, LPF_MAX_P, &spmd, args) == (is("right") ? LPF_SUCCESS : LPF_ERR_FATAL));
  }
  return 0;
}
