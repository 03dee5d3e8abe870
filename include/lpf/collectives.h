/* SPDX-License-Identifier: Apache-2.0
 *
 * LPF's collectives. They are scheduled like puts and gets, and do not sync by themselves. One
 * lpf_sync() completes any number of them, so that several can be scheduled in one superstep,
 * together with puts and gets.
 *
 * All calls on a collectives object are collective over its members. The members are numbered 0 ..
 * P - 1 in it, and `root` is such a number. An error in a call makes the context fail
 * (LPF_ERR_FATAL). LPF_ERR_OUT_OF_MEMORY: this superstep has more calls, larger elements or more
 * bytes than the object was created for; the call has then scheduled nothing.
 *
 * If a call does not access a memory area, the slot of that area may be invalid, or of size 0.
 */
#ifndef LPF_COLLECTIVES_H
#define LPF_COLLECTIVES_H

#include <stdbool.h>

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

/** The version of the implemented specification. */
#define _LPF_COLLECTIVES_VERSION 201500L

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** A collectives object; passed by value. All zero: LPF_INVALID_COLL. */
typedef struct lpf_coll {
  lpf_t ctx;     /**< its context */
  lpf_pid_t P;   /**< the number of members */
  lpf_pid_t s;   /**< the number of this process among them, 0 .. P - 1 */
  size_t number; /**< its number in the context; 0: none */
} lpf_coll_t;

/** Not an object; for initializers. */
extern const lpf_coll_t LPF_INVALID_COLL;

/** Reduces the n elements of `array` into `*value`, which already has a value. n is at least 1. */
typedef void (*lpf_reducer_t)(size_t n, const void* array, void* value);

/** `into[i] = into[i] (+) combine[i]`, for i in 0 .. n - 1. n is at least 1, and may be less than
 * the number of elements of the array. The operation must be associative and commutative. */
typedef void (*lpf_combiner_t)(size_t n, const void* combine, void* into);

/** Creates an object over all processes of `ctx`. `s` is the number of the calling process, and `p`
 * the number of processes. It supports at most `max_calls` collectives per superstep, reduced
 * elements of at most `max_elem_size` bytes, and arrays of at most `max_byte_size` bytes. Takes
 * one entry of the memory register. Local; the object can be used after the next sync.
 * LPF_ERR_OUT_OF_MEMORY: the register is full, or p times the larger of the two sizes exceeds the
 * address space. */
lpf_err_t lpf_collectives_init(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, size_t max_calls, size_t max_elem_size,
                               size_t max_byte_size, lpf_coll_t* coll);

/** The same over the processes lo, lo + str, lo + 2 str, ... below hi. Only these processes call
 * it. */
lpf_err_t lpf_collectives_init_strided(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_pid_t lo, lpf_pid_t hi,
                                       lpf_pid_t str, size_t max_calls, size_t max_elem_size,
                                       size_t max_byte_size, lpf_coll_t* coll);

/** The context of an object; LPF_NONE for LPF_INVALID_COLL. */
lpf_t lpf_collectives_get_context(lpf_coll_t coll);

/** Destroys an object, and frees its entry of the register. No call on it may be scheduled. */
lpf_err_t lpf_collectives_destroy(lpf_coll_t coll);

/** Copies `size` bytes of the root's src to dst of all other members. The call does not access the
 * root's dst and the src of the others. src is a global slot. src may be dst. */
lpf_err_t lpf_broadcast(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root);

/** Copies `size` bytes of src of each member k except the root to offset k * size of the root's
 * dst, a global slot. The call does not access the root's src, the root's own block of dst, and
 * the dst of the others. */
lpf_err_t lpf_gather(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root);

/** Copies `size` bytes from offset k * size of the root's src, a global slot, to dst of each member
 * k except the root. */
lpf_err_t lpf_scatter(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root);

/** Copies `size` bytes of src of each member k to offset k * size of dst, a global slot, on all
 * members. The caller's own block is included, unless `exclude_myself`. src may be the caller's
 * own block of dst. */
lpf_err_t lpf_allgather(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size,
                        bool exclude_myself);

/** Copies `size` bytes from src of each member k to dst of each other member s. They begin at
 * offset s * size of src, and at offset k * size of dst. The call does not access the blocks of a
 * member for itself. Both slots are global, and different. */
lpf_err_t lpf_alltoall(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size);

/** Reduces the elements of all members into the root's element; the other elements do not change.
 * `element_slot` is the global slot of `element`. */
lpf_err_t lpf_reduce(lpf_coll_t coll, void* __restrict element, lpf_memslot_t element_slot, size_t size,
                     lpf_reducer_t reducer, lpf_pid_t root);

/** The same on all members. */
lpf_err_t lpf_allreduce(lpf_coll_t coll, void* __restrict element, lpf_memslot_t element_slot, size_t size,
                        lpf_reducer_t reducer);

/** Combines the arrays of all members, of `num` elements of `size` bytes, element by element into
 * the root's array. The other arrays are undefined afterwards. `slot` is the global slot of
 * `array`. */
lpf_err_t lpf_combine(lpf_coll_t coll, void* __restrict array, lpf_memslot_t slot, size_t num, size_t size,
                      lpf_combiner_t combiner, lpf_pid_t root);

/** The same on all members. */
lpf_err_t lpf_allcombine(lpf_coll_t coll, void* __restrict array, lpf_memslot_t slot, size_t num, size_t size,
                         lpf_combiner_t combiner);

/** For lpf/checked.h: returns `coll`, and stores the location of the next call on it. */
lpf_coll_t lpf_checked_coll(lpf_coll_t coll, const char* file, int line);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#ifdef LPF_CHECKED
#define LPF_COLLECTIVES_DECLARED
#include "lpf/checked.h"
#endif

#endif
