/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes one mistake, named by the argument, in an otherwise right program. With TUTTI_CHECK=1
 * every process gets an error, and the report names the calls of both sides with their lines.
 * Exits with 0 if all processes saw LPF_ERR_FATAL; for `none`, if no process did.
 */
#include <stdio.h>
#include <string.h>

#include <lpf/collectives.h>
#include <lpf/core.h>

#ifndef LPF_CHECKED
#error "compile with -DLPF_CHECKED"
#endif

static void sum(size_t n, const void* array, void* value) {
  for (size_t i = 0; i < n; ++i) *(double*)value += ((const double*)array)[i];
}

struct state {
  lpf_t ctx;
  lpf_pid_t s, p;
  double a[8], b[8], element;
  lpf_memslot_t as, bs, es;
  lpf_coll_t coll;
};

static int is(const char* what, const char* name) { return strcmp(what, name) == 0; }

static void schedule(struct state* t, const char* what) {
  lpf_pid_t next = (t->s + 1) % t->p;
  if (is(what, "none")) {
    lpf_put(t->ctx, t->as, 0, next, t->bs, 0, 16, LPF_MSG_DEFAULT);
    lpf_put(t->ctx, t->as, 8, next, t->bs, 8, 16, LPF_MSG_DEFAULT); /* both may overlap */
    lpf_get(t->ctx, next, t->as, 8, t->bs, 32, 16, LPF_MSG_DEFAULT);
    lpf_allreduce(t->coll, &t->element, t->es, sizeof t->element, sum);
  } else if (is(what, "read_and_written")) {
    if (t->s == 0) lpf_put(t->ctx, t->as, 0, 1, t->bs, 8, 8, LPF_MSG_DEFAULT);
    if (t->s == 2 % t->p) lpf_get(t->ctx, 1, t->bs, 0, t->as, 32, 16, LPF_MSG_DEFAULT);
  } else if (is(what, "collective_and_put")) {
    if (t->s == 0) lpf_put(t->ctx, t->as, 32, t->p - 1, t->bs, 0, 8, LPF_MSG_DEFAULT);
    lpf_broadcast(t->coll, t->bs, t->as, 8, t->p - 1);
  } else if (is(what, "remote_slot_before_sync")) {
    static double late[2];
    lpf_memslot_t fresh;
    lpf_register_global(t->ctx, late, sizeof late, &fresh);
    if (t->s == 0) lpf_put(t->ctx, t->as, 0, 1, fresh, 0, 8, LPF_MSG_DEFAULT);
  } else if (is(what, "local_slot_before_sync")) {
    static double late[2];
    lpf_memslot_t fresh;
    lpf_register_global(t->ctx, late, sizeof late, &fresh);
    lpf_put(t->ctx, fresh, 0, next, t->bs, 0, 8, LPF_MSG_DEFAULT);
  } else if (is(what, "object_before_sync")) {
    lpf_coll_t fresh;
    lpf_collectives_init(t->ctx, t->s, t->p, 1, 8, 64, &fresh);
    lpf_broadcast(fresh, t->as, t->bs, 8, 0);
  } else if (is(what, "remote_out_of_range")) {
    if (t->s == 0) lpf_put(t->ctx, t->as, 0, 1, t->bs, sizeof t->b - 4, 8, LPF_MSG_DEFAULT);
  } else if (is(what, "root_differs")) {
    lpf_broadcast(t->coll, t->as, t->bs, 8, t->s == 1 ? 1 : 0);
  } else if (is(what, "size_differs")) {
    lpf_allgather(t->coll, t->as, t->bs, t->s == 1 ? 4 : 8, false);
  } else if (is(what, "not_called")) {
    if (t->s != 1) lpf_allreduce(t->coll, &t->element, t->es, sizeof t->element, sum);
  } else if (is(what, "another_collective")) {
    if (t->s == 1)
      lpf_broadcast(t->coll, t->as, t->bs, 8, 0);
    else
      lpf_scatter(t->coll, t->as, t->bs, 8, 0);
  }
}

static void section(const lpf_t ctx, const lpf_pid_t s, const lpf_pid_t p, const lpf_args_t args) {
  struct state t;
  char what[64] = "";
  memset(&t, 0, sizeof t);
  t.ctx = ctx;
  t.s = s;
  t.p = p;
  lpf_resize_memory_register(ctx, 6);
  lpf_resize_message_queue(ctx, 8);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
  lpf_memslot_t names;
  if (args.input_size > 0) memcpy(what, args.input, args.input_size);
  lpf_register_global(ctx, what, sizeof what, &names);
  lpf_register_global(ctx, t.a, sizeof t.a, &t.as);
  lpf_register_global(ctx, t.b, sizeof t.b, &t.bs);
  lpf_register_global(ctx, &t.element, sizeof t.element, &t.es);
  lpf_collectives_init(ctx, s, p, 2, 8, 64, &t.coll);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
  if (s != 0) lpf_get(ctx, 0, names, 0, names, 0, sizeof what, LPF_MSG_DEFAULT);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
  schedule(&t, what);
  int expected = is(what, "none") ? LPF_SUCCESS : LPF_ERR_FATAL;
  int end = lpf_sync(ctx, LPF_SYNC_DEFAULT);
  if (end != expected) fprintf(stderr, "FAILED: process %u got %d of %s\n", s, end, what);
  if (end != LPF_SUCCESS && lpf_sync(ctx, LPF_SYNC_DEFAULT) != LPF_ERR_FATAL)
    fprintf(stderr, "FAILED: process %u syncs after a failure\n", s);
}

int main(int argc, char** argv) {
  lpf_args_t args = LPF_NO_ARGS;
  if (argc < 2) return 2;
  args.input = argv[1];
  args.input_size = strlen(argv[1]) + 1;
  int end = lpf_exec(LPF_ROOT, LPF_MAX_P, section, args);
  return end == (is(argv[1], "none") ? LPF_SUCCESS : LPF_ERR_FATAL) ? 0 : 1;
}
