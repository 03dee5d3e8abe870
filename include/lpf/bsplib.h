/* SPDX-License-Identifier: Apache-2.0
 *
 * BSPlib (Hill, McColl, Stefanescu, Goudreau, Lang, Rao, Suel, Tsantilas, Bisseling: BSPlib, the
 * BSP programming library, 1998) over LPF's core, for C99 and C++. It has remote memory by address,
 * buffered and unbuffered, and messages with tags. The global state of the standard is an object
 * here, created over a context. The object needs the context for itself, since it sizes the
 * context's register and queue (lpf_rehook() makes a context for it). While it lives, nothing else
 * may register memory with the context or send over it.
 *
 * bsplib_sync() consists of two lpf_syncs. All gets must have read before any put writes, and a
 * receiver of messages must know their number before it fetches them. A third lpf_sync is added if
 * a process issues more gets in a superstep than the queue can hold. The queue is then doubled.
 *
 * Errors in arguments are reported on standard error, and the call has then done nothing. The
 * exception is BSPLIB_ERR_FATAL, which is permanent. Errors that this process can see alone are
 * always found. In safe mode processes also exchange what they register, so that calls that
 * contradict those of other processes are found. bsplib_sync() then costs a message to every
 * process, and a registration costs an exchange of all sizes. Without safe mode such calls end with
 * BSPLIB_ERR_FATAL at best.
 */
#ifndef LPF_BSPLIB_H
#define LPF_BSPLIB_H

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

struct bsplib_object;  /* not exported */

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** An object: this process's part of a BSPlib program. */
typedef struct bsplib_object* bsplib_t;

/** The result of a call. */
typedef enum bsplib_err {
  BSPLIB_SUCCESS = 0,
  BSPLIB_ERR_OUT_OF_MEMORY,              /**< no memory is left */
  BSPLIB_ERR_MEMORY_NOT_REGISTERED,      /**< no registration of this address on this process */
  BSPLIB_ERR_PUSHREG_MISMATCH,           /**< safe mode: numbers of registrations differ */
  BSPLIB_ERR_POPREG_MISMATCH,            /**< safe mode: the ended registrations differ */
  BSPLIB_ERR_TAGSIZE_MISMATCH,           /**< safe mode: processes have set different tag sizes */
  BSPLIB_ERR_NULL_POINTER,               /**< a pointer is null; safe mode: also a remote one */
  BSPLIB_ERR_PID_OUT_OF_RANGE,           /**< the process does not exist */
  BSPLIB_ERR_MEMORY_ACCESS_OUT_OF_RANGE, /**< safe mode: exceeds the remote registration */
  BSPLIB_ERR_EMPTY_MESSAGE_QUEUE,        /**< no message is left */
  BSPLIB_ERR_FATAL /**< the context has failed, or another process has left; permanent */
} bsplib_err_t;

/** Creates an object. Collective, with the same `safemode` (0: off) and max_hp_regs; `pid` and
 * `nprocs` are those of the section. Up to `max_hp_regs` hpput and hpget calls of a superstep
 * access the caller's memory directly; the others are buffered. Syncs twice. OUT_OF_MEMORY,
 * NULL_POINTER (bsplib), PID_OUT_OF_RANGE (pid is not below nprocs), FATAL. */
bsplib_err_t bsplib_create(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, int safemode, size_t max_hp_regs,
                           bsplib_t* bsplib);

/** Destroys the object and its registrations. Collective. Operations that were scheduled since the
 * last sync are discarded. Other users of the context may use it afterwards and must set its
 * capacities again. For an object that has failed, for example by a sync that others have missed,
 * it returns SUCCESS. NULL_POINTER, FATAL (found by this call). */
bsplib_err_t bsplib_destroy(bsplib_t bsplib);

/** Seconds since the creation of the object, on this process's clock. */
double bsplib_time(bsplib_t bsplib);
lpf_pid_t bsplib_nprocs(bsplib_t bsplib); /**< the number of processes */
lpf_pid_t bsplib_pid(bsplib_t bsplib);    /**< the number of this process */

/** Ends the superstep. First gets read, then their data is written, then puts write. Registrations,
 * their ends, and the tag size take effect next. Afterwards messages can be read; those of the
 * previous superstep are discarded. hpput and hpget may take effect at any time between their call
 * and the end of this one. Collective.
 *
 * Safe mode: PUSHREG_MISMATCH, POPREG_MISMATCH or TAGSIZE_MISMATCH, the same on all processes. The
 * superstep is then complete, but none of its registrations, ends of registrations and tag sizes
 * has taken effect. OUT_OF_MEMORY: this process had no memory for its messages, which are lost. All
 * other operations are complete. FATAL. */
bsplib_err_t bsplib_sync(bsplib_t bsplib);

/** Registers `size` bytes at `ident` from the next superstep on. All processes call it equally
 * often and in the same order; addresses and sizes may differ. `ident` may be null if size is 0.
 * Then other processes cannot access memory of this process, and this process can name the
 * registration only to end it.
 *
 * Registrations form a stack. A put or get that names an address uses the last registration with
 * that address on the calling process. It thus uses the addresses of the other processes in that
 * registration. OUT_OF_MEMORY, NULL_POINTER (ident, with a size), FATAL. Amortised O(1). */
bsplib_err_t bsplib_push_reg(bsplib_t bsplib, const void* ident, size_t size);

/** Ends the last registration of `ident`, from the next superstep on; an earlier one then takes
 * effect again. Registrations and ends of one superstep take effect in the order of the calls, so
 * the last registration may be of this superstep. All processes end the same registrations in the
 * same order. MEMORY_NOT_REGISTERED, OUT_OF_MEMORY, FATAL. */
bsplib_err_t bsplib_pop_reg(bsplib_t bsplib, const void* ident);

/** Writes the current contents of `nbytes` at `src` to `offset` bytes behind `dst` of process
 * `dst_pid`, at the end of the superstep. `dst` is a registered address. Overlapping puts take
 * effect in an unspecified order. `src` is not used after the call. With 0 bytes the call does
 * nothing, whatever the addresses are. PID_OUT_OF_RANGE, MEMORY_NOT_REGISTERED, NULL_POINTER (src
 * or dst), OUT_OF_MEMORY, FATAL; safe mode: MEMORY_ACCESS_OUT_OF_RANGE, NULL_POINTER (that process
 * has registered null). */
bsplib_err_t bsplib_put(bsplib_t bsplib, lpf_pid_t dst_pid, const void* src, void* dst, size_t offset,
                        size_t nbytes);

/** The same, unbuffered: until the end of the superstep `src` must not change, and nothing else may
 * access the written memory. */
bsplib_err_t bsplib_hpput(bsplib_t bsplib, lpf_pid_t dst_pid, const void* src, void* dst, size_t offset,
                          size_t nbytes);

/** Reads `nbytes` from `offset` bytes behind `src` of process `src_pid` into `dst`. It reads the
 * contents at the end of the superstep, before any put writes. The errors are those of
 * bsplib_put(). */
bsplib_err_t bsplib_get(bsplib_t bsplib, lpf_pid_t src_pid, const void* src, size_t offset, void* dst,
                        size_t nbytes);

/** The same, unbuffered: until the end of the superstep nothing may change the source or access
 * `dst`. */
bsplib_err_t bsplib_hpget(bsplib_t bsplib, lpf_pid_t src_pid, const void* src, size_t offset, void* dst,
                          size_t nbytes);

/** Sets the length of the tags of messages that are sent from the next superstep on; it is 0 at
 * first. All processes set the same length. Returns the length for messages that are sent now. */
size_t bsplib_set_tagsize(bsplib_t bsplib, size_t tag_nbytes);

/** Sends a message: the current contents of a tag of the tag size and of `nbytes` of payload.
 * Process `dst_pid` can read it in the next superstep. PID_OUT_OF_RANGE, NULL_POINTER (tag or
 * payload, with a length), OUT_OF_MEMORY, FATAL. */
bsplib_err_t bsplib_send(bsplib_t bsplib, lpf_pid_t dst_pid, const void* tag, const void* payload,
                         size_t nbytes);

/** The same, unbuffered: the payload must not change before the superstep ends. The tag is copied
 * at once. */
bsplib_err_t bsplib_hpsend(bsplib_t bsplib, lpf_pid_t dst_pid, const void* tag, const void* payload,
                           size_t nbytes);

/** The number of unread messages, and the total length of their payloads; either pointer may be
 * null. FATAL. */
bsplib_err_t bsplib_qsize(bsplib_t bsplib, size_t* nmessages, size_t* accum_nbytes);

/** Reads the properties of the next message. `status` receives the length of its payload, or
 * SIZE_MAX if there is none. `tag` receives its tag, with the tag size of its send. The message
 * stays. NULL_POINTER (status; tag, if there is one), FATAL. */
bsplib_err_t bsplib_get_tag(bsplib_t bsplib, size_t* status, void* tag);

/** Takes the next message, and copies the first `reception_nbytes` of its payload to `payload`.
 * Messages are ordered by the number of their sender, and those of one sender in the order of
 * sending. EMPTY_MESSAGE_QUEUE, NULL_POINTER (payload, with bytes to write), FATAL. */
bsplib_err_t bsplib_move(bsplib_t bsplib, void* payload, size_t reception_nbytes);

/** The same without a copy. Sets the addresses of tag and payload, at multiples of 16 bytes, which
 * are valid until the next bsplib_sync(). Returns the length of the payload. If there is no
 * message, returns SIZE_MAX and sets both to null. Either pointer may be null. */
size_t bsplib_hpmove(bsplib_t bsplib, const void** tag, const void** payload);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#endif
