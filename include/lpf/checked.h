/* SPDX-License-Identifier: Apache-2.0
 *
 * Included by the other headers where LPF_CHECKED is defined: calls say in which file and line they are
 * written, so that what is found wrong with them, and what TUTTI_CHECK=1 reports, names that too. Calls are
 * as before but for one thing: their first argument is evaluated twice.
 */
#include "lpf/core.h"

#ifndef LPF_CHECKED_H
#define LPF_CHECKED_H

#ifdef __cplusplus
extern "C" {
#endif

/** Where the next call on `ctx` is written; `file` stays the caller's. What is no context of a section is
 * ignored. */
void lpf_checked_at(lpf_t ctx, const char* file, int line);

#ifdef __cplusplus
}
#endif

#ifdef LPF_CHECKED
#define LPF_CHECKED_CALL(call, ctx, ...) (lpf_checked_at((ctx), __FILE__, __LINE__), call((ctx), __VA_ARGS__))
#define LPF_CHECKED_COLL(call, coll, ...) \
  (lpf_checked_at((coll).ctx, __FILE__, __LINE__), call((coll), __VA_ARGS__))

#define lpf_register_global(ctx, ...) LPF_CHECKED_CALL(lpf_register_global, ctx, __VA_ARGS__)
#define lpf_register_local(ctx, ...) LPF_CHECKED_CALL(lpf_register_local, ctx, __VA_ARGS__)
#define lpf_deregister(ctx, ...) LPF_CHECKED_CALL(lpf_deregister, ctx, __VA_ARGS__)
#define lpf_put(ctx, ...) LPF_CHECKED_CALL(lpf_put, ctx, __VA_ARGS__)
#define lpf_get(ctx, ...) LPF_CHECKED_CALL(lpf_get, ctx, __VA_ARGS__)
#define lpf_sync(ctx, ...) LPF_CHECKED_CALL(lpf_sync, ctx, __VA_ARGS__)
#define lpf_resize_memory_register(ctx, ...) LPF_CHECKED_CALL(lpf_resize_memory_register, ctx, __VA_ARGS__)
#define lpf_resize_message_queue(ctx, ...) LPF_CHECKED_CALL(lpf_resize_message_queue, ctx, __VA_ARGS__)
#endif
#endif

/* These once they are declared, at the end of lpf/collectives.h. */
#if defined(LPF_COLLECTIVES_DECLARED) && !defined(LPF_CHECKED_COLLECTIVES)
#define LPF_CHECKED_COLLECTIVES

#define lpf_collectives_init(ctx, ...) LPF_CHECKED_CALL(lpf_collectives_init, ctx, __VA_ARGS__)
#define lpf_collectives_init_strided(ctx, ...) \
  LPF_CHECKED_CALL(lpf_collectives_init_strided, ctx, __VA_ARGS__)
#define lpf_broadcast(coll, ...) LPF_CHECKED_COLL(lpf_broadcast, coll, __VA_ARGS__)
#define lpf_gather(coll, ...) LPF_CHECKED_COLL(lpf_gather, coll, __VA_ARGS__)
#define lpf_scatter(coll, ...) LPF_CHECKED_COLL(lpf_scatter, coll, __VA_ARGS__)
#define lpf_allgather(coll, ...) LPF_CHECKED_COLL(lpf_allgather, coll, __VA_ARGS__)
#define lpf_alltoall(coll, ...) LPF_CHECKED_COLL(lpf_alltoall, coll, __VA_ARGS__)
#define lpf_reduce(coll, ...) LPF_CHECKED_COLL(lpf_reduce, coll, __VA_ARGS__)
#define lpf_allreduce(coll, ...) LPF_CHECKED_COLL(lpf_allreduce, coll, __VA_ARGS__)
#define lpf_combine(coll, ...) LPF_CHECKED_COLL(lpf_combine, coll, __VA_ARGS__)
#define lpf_allcombine(coll, ...) LPF_CHECKED_COLL(lpf_allcombine, coll, __VA_ARGS__)

#endif
