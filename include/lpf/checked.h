/* SPDX-License-Identifier: Apache-2.0
 *
 * The other headers include this one if LPF_CHECKED is defined. Calls then pass their file and
 * line, which error messages and the reports of TUTTI_CHECK=1 contain. The only other difference is
 * that calls evaluate their first argument twice.
 */
#include "lpf/core.h"

#ifndef LPF_CHECKED_H
#define LPF_CHECKED_H

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** Returns `ctx`, and stores the location of the next call on it. `file` must stay valid. */
lpf_t lpf_checked_ctx(lpf_t ctx, const char* file, int line);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#ifdef LPF_CHECKED

#define lpf_register_global(ctx, ...) \
  lpf_register_global(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_register_local(ctx, ...) \
  lpf_register_local(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_deregister(ctx, ...) lpf_deregister(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_put(ctx, ...) lpf_put(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_get(ctx, ...) lpf_get(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_sync(ctx, ...) lpf_sync(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_resize_memory_register(ctx, ...) \
  lpf_resize_memory_register(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_resize_message_queue(ctx, ...) \
  lpf_resize_message_queue(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#endif
#endif

/* These macros follow the declarations, at the end of lpf/collectives.h. */
#if defined(LPF_CHECKED) && defined(LPF_COLLECTIVES_DECLARED) && !defined(LPF_CHECKED_COLLECTIVES)
#define LPF_CHECKED_COLLECTIVES

#define lpf_collectives_init(ctx, ...) \
  lpf_collectives_init(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_collectives_init_strided(ctx, ...) \
  lpf_collectives_init_strided(lpf_checked_ctx((ctx), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_broadcast(coll, ...) lpf_broadcast(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_gather(coll, ...) lpf_gather(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_scatter(coll, ...) lpf_scatter(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_allgather(coll, ...) lpf_allgather(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_alltoall(coll, ...) lpf_alltoall(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_reduce(coll, ...) lpf_reduce(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_allreduce(coll, ...) lpf_allreduce(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_combine(coll, ...) lpf_combine(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)
#define lpf_allcombine(coll, ...) lpf_allcombine(lpf_checked_coll((coll), __FILE__, __LINE__), __VA_ARGS__)

#endif
