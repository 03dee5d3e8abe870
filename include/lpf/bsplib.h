/* SPDX-License-Identifier: Apache-2.0
 *
 * BSPlib (Hill, McColl, Stefanescu, Goudreau, Lang, Rao, Suel, Tsantilas, Bisseling: BSPlib, the BSP
 * programming library, 1998) over LPF's core, for C99 and C++: remote memory by address, buffered and not,
 * and messages with tags. What its standard leaves to a global state is an object here, made over a context
 * which it has for itself: while it lives, nothing else may register memory with the context or send over it,
 * since the object sizes the context's register and queue as it needs (lpf_rehook() makes a context for it).
 *
 * bsplib_sync() is two lpf_syncs: all that bsplib_get() reads must have been read before any bsplib_put()
 * writes, and who receives messages must know how many before it fetches them. A third one comes in between
 * where a process makes more gets in a superstep than the queue had room for, which doubles then.
 *
 * Errors. What is wrong with arguments is written to standard error, and the call has done nothing, but for
 * BSPLIB_ERR_FATAL, which stays. What costs a look at this process alone is always found. In safe mode
 * processes also tell one another what they register, so that also calls are found that do not fit what
 * others have said; then bsplib_sync() costs a message to every process, and a registration the sizes of all.
 * Without it such calls end as BSPLIB_ERR_FATAL at the best.
 */
#ifndef LPF_BSPLIB_H
#define LPF_BSPLIB_H

#include "lpf/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An object: this process's part of a BSPlib program. */
typedef struct bsplib_object* bsplib_t;

/** How a call ended. */
typedef enum bsplib_err {
  BSPLIB_SUCCESS = 0,
  BSPLIB_ERR_OUT_OF_MEMORY,         /**< there is no memory */
  BSPLIB_ERR_MEMORY_NOT_REGISTERED, /**< no registration of this address on this process */
  BSPLIB_ERR_PUSHREG_MISMATCH,      /**< safe mode: processes have registered different numbers of times */
  BSPLIB_ERR_POPREG_MISMATCH,       /**< safe mode: processes have ended different registrations */
  BSPLIB_ERR_TAGSIZE_MISMATCH,      /**< safe mode: processes have set different tag sizes */
  BSPLIB_ERR_NULL_POINTER,     /**< a pointer is null that may not be; safe mode: so it is registered there */
  BSPLIB_ERR_PID_OUT_OF_RANGE, /**< there is no such process */
  BSPLIB_ERR_MEMORY_ACCESS_OUT_OF_RANGE, /**< safe mode: beyond what that process has registered */
  BSPLIB_ERR_EMPTY_MESSAGE_QUEUE,        /**< there is no message left */
  BSPLIB_ERR_FATAL /**< the context has failed, or another process has left; it stays so */
} bsplib_err_t;

/** Makes an object. Collective, with the same `safemode` (0: off) and max_hp_regs; `pid` and `nprocs` are
 * those of the section. Of hpput and hpget `max_hp_regs` in a superstep read and write the caller's memory
 * themselves; the rest are buffered. Syncs twice. OUT_OF_MEMORY, NULL_POINTER (bsplib), PID_OUT_OF_RANGE (pid
 * is not below nprocs), FATAL. */
bsplib_err_t bsplib_create(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, int safemode, size_t max_hp_regs,
                           bsplib_t* bsplib);

/** Ends the object, with its registrations. Collective. What has been scheduled since the last sync is
 * dropped. The context may then be used by others, who set its capacities anew. An object that has failed, as
 * by a sync that others have missed, ends with SUCCESS. NULL_POINTER, FATAL (found by this call). */
bsplib_err_t bsplib_destroy(bsplib_t bsplib);

/** Seconds since the object was made, on this process's clock. */
double bsplib_time(bsplib_t bsplib);
lpf_pid_t bsplib_nprocs(bsplib_t bsplib); /**< how many processes there are */
lpf_pid_t bsplib_pid(bsplib_t bsplib);    /**< this one's number */

/** Ends the superstep. In this order: gets read; what they have read is written; puts write; registrations,
 * their ends, and the tag size take effect; messages can be read, those of the superstep before are dropped.
 * hpput and hpget may take effect at any time between their call and the end of this one. Collective.
 *
 * Safe mode: PUSHREG_MISMATCH, POPREG_MISMATCH or TAGSIZE_MISMATCH, the same on all processes: the superstep
 * is complete, but none of its registrations, ends of registrations and tag sizes has taken effect.
 * OUT_OF_MEMORY: on this process there was no memory for its messages, which are lost; all else is complete.
 * FATAL. */
bsplib_err_t bsplib_sync(bsplib_t bsplib);

/** Registers `size` bytes at `ident` from the next superstep on. All processes do it equally often and in the
 * same order; addresses and sizes may differ. `ident` may be null where size is 0: of this process nothing
 * can be reached then, and this process cannot name the registration, but for its end.
 *
 * Registrations are a stack: puts and gets that name an address mean the last registration in which it is the
 * address on the calling process, and so the addresses of the others in the same registration. OUT_OF_MEMORY,
 * NULL_POINTER (ident, with a size), FATAL. Amortised O(1). */
bsplib_err_t bsplib_push_reg(bsplib_t bsplib, const void* ident, size_t size);

/** Ends the last registration of `ident`, from the next superstep on; so an earlier one counts again.
 * Registrations and ends of one superstep take effect in the order of the calls, so the last one may be of
 * this superstep. All processes end the same registrations in the same order. MEMORY_NOT_REGISTERED,
 * OUT_OF_MEMORY, FATAL. */
bsplib_err_t bsplib_pop_reg(bsplib_t bsplib, const void* ident);

/** Writes `nbytes` from `src`, as they are now, to `offset` bytes behind `dst` of process `dst_pid`, when the
 * superstep ends. `dst` is an address that is registered. Where puts overlap, the result is that of some
 * order of them. `src` is not used after the call. Of 0 bytes nothing is done, whatever the addresses are.
 * PID_OUT_OF_RANGE, MEMORY_NOT_REGISTERED, NULL_POINTER (src or dst), OUT_OF_MEMORY, FATAL; safe mode:
 * MEMORY_ACCESS_OUT_OF_RANGE, NULL_POINTER (that process has registered null). */
bsplib_err_t bsplib_put(bsplib_t bsplib, lpf_pid_t dst_pid, const void* src, void* dst, size_t offset,
                        size_t nbytes);

/** The same, unbuffered: `src` may not change before the superstep ends, nor may anybody else use what is
 * written. */
bsplib_err_t bsplib_hpput(bsplib_t bsplib, lpf_pid_t dst_pid, const void* src, void* dst, size_t offset,
                          size_t nbytes);

/** Reads `nbytes` from `offset` bytes behind `src` of process `src_pid`, as they are when the superstep ends,
 * before any put writes, into `dst`. Errors as of bsplib_put(). */
bsplib_err_t bsplib_get(bsplib_t bsplib, lpf_pid_t src_pid, const void* src, size_t offset, void* dst,
                        size_t nbytes);

/** The same, unbuffered: before the superstep ends nobody may change what is read, nor use `dst`. */
bsplib_err_t bsplib_hpget(bsplib_t bsplib, lpf_pid_t src_pid, const void* src, size_t offset, void* dst,
                          size_t nbytes);

/** Sets the length of the tags of messages that are sent from the next superstep on; 0 at the beginning. All
 * processes set the same. Returns the length of those that are sent now. */
size_t bsplib_set_tagsize(bsplib_t bsplib, size_t tag_nbytes);

/** Sends a message: a tag of the tag size and `nbytes` of payload, both as they are now, which process
 * `dst_pid` can read in the next superstep. PID_OUT_OF_RANGE, NULL_POINTER (tag or payload, with a length),
 * OUT_OF_MEMORY, FATAL. */
bsplib_err_t bsplib_send(bsplib_t bsplib, lpf_pid_t dst_pid, const void* tag, const void* payload,
                         size_t nbytes);

/** The same, unbuffered: the payload may not change before the superstep ends. The tag is copied at once. */
bsplib_err_t bsplib_hpsend(bsplib_t bsplib, lpf_pid_t dst_pid, const void* tag, const void* payload,
                           size_t nbytes);

/** How many messages are left to be read, and how long their payloads are together; either may be null.
 * FATAL. */
bsplib_err_t bsplib_qsize(bsplib_t bsplib, size_t* nmessages, size_t* accum_nbytes);

/** Of the next message: the length of its payload, SIZE_MAX where there is none, to `status`; its tag, of the
 * tag size that it was sent with, to `tag`. The message stays. NULL_POINTER (status; tag, where there is
 * one), FATAL. */
bsplib_err_t bsplib_get_tag(bsplib_t bsplib, size_t* status, void* tag);

/** Takes the next message, of whose payload the first `reception_nbytes` go to `payload`. Messages come by
 * the number of their sender, and in the order in which it has sent them. EMPTY_MESSAGE_QUEUE, NULL_POINTER
 * (payload, with bytes to write), FATAL. */
bsplib_err_t bsplib_move(bsplib_t bsplib, void* payload, size_t reception_nbytes);

/** The same without copying: sets where tag and payload lie, at multiples of 16 bytes, until the next
 * bsplib_sync(); returns the length of the payload. SIZE_MAX: there is no message, and both are null. Either
 * pointer may be null. */
size_t bsplib_hpmove(bsplib_t bsplib, const void** tag, const void** payload);

#ifdef __cplusplus
}
#endif

#endif
