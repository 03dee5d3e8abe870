/* SPDX-License-Identifier: Apache-2.0
 *
 * LPF's collectives. They are scheduled like puts and gets, and complete in the next lpf_sync(), of which
 * there is one however many of them there are: none syncs by itself. So several may be scheduled in one
 * superstep, beside puts and gets.
 *
 * All calls on a collectives object are collective over its members; members are numbered 0 .. P - 1 in it,
 * and `root` is such a number. What is wrong with a call makes the context fail (LPF_ERR_FATAL).
 * LPF_ERR_OUT_OF_MEMORY: more calls in this superstep, larger elements or more bytes than the object was made
 * for; nothing is scheduled then.
 *
 * Where it is said that an area is not touched, its slot may be invalid, or of size 0.
 */
#ifndef LPF_COLLECTIVES_H
#define LPF_COLLECTIVES_H

#include <stdbool.h>

#include "lpf/core.h"

/** The specification that is implemented. */
#define _LPF_COLLECTIVES_VERSION 201500L

#ifdef __cplusplus
extern "C" {
#endif

/** A collectives object; passed by value. All zero: LPF_INVALID_COLL. */
typedef struct lpf_coll {
  lpf_t ctx;     /**< its context */
  lpf_pid_t P;   /**< how many members it has */
  lpf_pid_t s;   /**< the number of this process among them, 0 .. P - 1 */
  size_t number; /**< which one of the context's; 0: none */
} lpf_coll_t;

/** Not an object; for initializers. */
extern const lpf_coll_t LPF_INVALID_COLL;

/** Reduces the n elements of `array` into `*value`, which has a value already. n is at least 1. */
typedef void (*lpf_reducer_t)(size_t n, const void* array, void* value);

/** `into[i] = into[i] (+) combine[i]`, for i in 0 .. n - 1. n is at least 1, and may be fewer elements than
 * the array has. Shall be associative and commutative. */
typedef void (*lpf_combiner_t)(size_t n, const void* combine, void* into);

/** An object over all processes of `ctx`; `s` and `p` are the own number and the number of them. At most
 * `max_calls` collectives a superstep, elements of at most `max_elem_size` bytes to reduce, arrays of at most
 * `max_byte_size` bytes. Takes one entry of the memory register. Local; used after the next sync.
 * LPF_ERR_OUT_OF_MEMORY: the register is full, or p times the larger of the two sizes is more than a process
 * can address. */
lpf_err_t lpf_collectives_init(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, size_t max_calls, size_t max_elem_size,
                               size_t max_byte_size, lpf_coll_t* coll);

/** The same over the processes lo, lo + str, lo + 2 str ... below hi. Called by these alone. */
lpf_err_t lpf_collectives_init_strided(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, lpf_pid_t lo, lpf_pid_t hi,
                                       lpf_pid_t str, size_t max_calls, size_t max_elem_size,
                                       size_t max_byte_size, lpf_coll_t* coll);

/** Its context. LPF_NONE of LPF_INVALID_COLL. */
lpf_t lpf_collectives_get_context(lpf_coll_t coll);

/** Ends an object, and gives its entry of the register back. Nothing may be scheduled with it. */
lpf_err_t lpf_collectives_destroy(lpf_coll_t coll);

/** `size` bytes of the root's src go to dst of all others; the root's dst is not touched, nor is the others'
 * src. src is a global slot. src may be dst. */
lpf_err_t lpf_broadcast(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root);

/** `size` bytes of src of each member k but the root go to k * size of the root's dst, a global slot. The
 * root's src, its own block of dst, and the others' dst are not touched. */
lpf_err_t lpf_gather(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root);

/** `size` bytes from k * size of the root's src, a global slot, go to dst of each member k but the root. */
lpf_err_t lpf_scatter(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size, lpf_pid_t root);

/** `size` bytes of src of each member k go to k * size of dst, a global slot, on all members; the own block
 * too, unless `exclude_myself`. src may be the own block of dst. */
lpf_err_t lpf_allgather(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size,
                        bool exclude_myself);

/** `size` bytes from s * size of src of each member k go to k * size of dst of each other member s. Own
 * blocks are not touched. Both slots are global, and different. */
lpf_err_t lpf_alltoall(lpf_coll_t coll, lpf_memslot_t src, lpf_memslot_t dst, size_t size);

/** The elements of all members, reduced, stand in the root's; the others' do not change. `element_slot` is
 * the global slot of `element`. */
lpf_err_t lpf_reduce(lpf_coll_t coll, void* __restrict element, lpf_memslot_t element_slot, size_t size,
                     lpf_reducer_t reducer, lpf_pid_t root);

/** The same on all members. */
lpf_err_t lpf_allreduce(lpf_coll_t coll, void* __restrict element, lpf_memslot_t element_slot, size_t size,
                        lpf_reducer_t reducer);

/** The arrays of all members, of `num` elements of `size` bytes, combined element by element, stand in the
 * root's; the others' are undefined then. `slot` is the global slot of `array`. */
lpf_err_t lpf_combine(lpf_coll_t coll, void* __restrict array, lpf_memslot_t slot, size_t num, size_t size,
                      lpf_combiner_t combiner, lpf_pid_t root);

/** The same on all members. */
lpf_err_t lpf_allcombine(lpf_coll_t coll, void* __restrict array, lpf_memslot_t slot, size_t num, size_t size,
                         lpf_combiner_t combiner);

/** For lpf/checked.h: gives `coll` back, and keeps where the next call on it is written. */
lpf_coll_t lpf_checked_coll(lpf_coll_t coll, const char* file, int line);

#ifdef __cplusplus
}
#endif

#ifdef LPF_CHECKED
#define LPF_COLLECTIVES_DECLARED
#include "lpf/checked.h"
#endif

#endif
