/* SPDX-License-Identifier: Apache-2.0
 *
 * BSMP, bulk-synchronous message passing, over LPF's core, for C99 and C++. A process sends
 * messages of any length, with a tag, to a process. The sender names no destination address. The
 * receiver reads them in the superstep after the sync.
 *
 * lpf_bsmp_sync() replaces lpf_sync(): it also completes what the program has scheduled itself. It
 * consists of two lpf_syncs. In the first each process reports to its receivers how much they will
 * get, and in the second they fetch it. No other function of this header syncs.
 *
 * An object needs resources of its context, in addition to those that the program uses itself. It
 * takes two entries of the memory register, and 4 max_messages + 2 p entries of the message queue.
 * For each sent message these are two messages to itself (one without a tag). Further there is one
 * to each receiver, and one from each sender. Each message counts at both its ends.
 *
 * All functions return LPF_SUCCESS, LPF_ERR_OUT_OF_MEMORY, LPF_ERR_FATAL as in lpf/core.h,
 * LPF_ERR_BSMP_FULL or LPF_ERR_BSMP_INVAL. After the last two nothing has changed. Errors in
 * arguments are reported on standard error.
 */
#ifndef LPF_BSMP_H
#define LPF_BSMP_H

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

struct lpf_bsmp_object;  /* not exported */

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** An object: what a process has sent in this superstep, and what it has received in the last. */
typedef struct lpf_bsmp_object* lpf_bsmp_t;

/** Not an object; null. */
extern const lpf_bsmp_t LPF_INVALID_BSMP;
/** The object was created for less than is requested. */
extern const lpf_err_t LPF_ERR_BSMP_FULL;
/** An argument is wrong. */
extern const lpf_err_t LPF_ERR_BSMP_INVAL;
/** The length that means "no message left". */
extern const size_t LPF_INVALID_SIZE;

/** Creates an object over all processes of `ctx`. `s` is the number of the calling process, and `p`
 * the number of processes. Collective, with the same tag_size. In one superstep this process can
 * send `max_messages` messages with `buffer_size` bytes of payload in total, each with a tag of
 * `tag_size` bytes. The first two may differ between processes. It can receive whatever is sent to
 * it.
 *
 * The object can be used after the next sync. It takes memory for about twice what can be sent, 48
 * p bytes, and what is received. LPF_ERR_OUT_OF_MEMORY: no memory is left, or the register is full.
 * LPF_ERR_BSMP_INVAL: bsmp is null, or s is not below p. */
lpf_err_t lpf_bsmp_create(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, size_t buffer_size, size_t tag_size,
                          size_t max_messages, lpf_bsmp_t* bsmp);

/** Destroys an object, and sets it to LPF_INVALID_BSMP. Collective, in the same order. Messages
 * that it has received are discarded. LPF_ERR_BSMP_INVAL: it is LPF_INVALID_BSMP, or messages have
 * been sent since the last sync. */
lpf_err_t lpf_bsmp_destroy(lpf_bsmp_t* bsmp);

/** Sends a message to process `pid`: tag_size bytes at `tag_offset` of the slot `tag`, and
 * `payload_size` bytes at `payload_offset` of the slot `payload`. Slots may be local, and may be
 * invalid if their size is 0. The next sync reads tag and payload, which must not change until
 * then. Local. A process may send to itself.
 *
 * LPF_ERR_BSMP_FULL: more messages or bytes than the object was created for. LPF_ERR_BSMP_INVAL:
 * the object is invalid, or pid is not a process. LPF_ERR_OUT_OF_MEMORY: the message queue of the
 * context is full; further sends fail, too, until the next sync. LPF_ERR_FATAL: a slot is invalid
 * or too small. */
lpf_err_t lpf_send(lpf_bsmp_t bsmp, lpf_pid_t pid, lpf_memslot_t tag, size_t tag_offset,
                   lpf_memslot_t payload, size_t payload_offset, size_t payload_size);

/** Ends the superstep like lpf_sync(), and delivers what was sent. Unread messages of the previous
 * superstep are discarded. Collective. LPF_ERR_OUT_OF_MEMORY: the queue of the context is too
 * short, or no memory is left for received messages. What this process sent, or what was sent to
 * it, is then lost, and the other processes continue. */
lpf_err_t lpf_bsmp_sync(lpf_bsmp_t bsmp, lpf_sync_attr_t attr);

/** The same for `n` objects of one context, in two lpf_syncs altogether. Collective, with the same
 * objects. LPF_ERR_BSMP_INVAL: one is LPF_INVALID_BSMP, occurs twice, or belongs to another
 * context; then nothing has been synced. n may be 0: the call then does nothing. */
lpf_err_t lpf_bsmp_syncall(lpf_bsmp_t* bsmp, size_t n, lpf_sync_attr_t attr);

/** Takes the next message. Sets the addresses of its tag and its payload, at multiples of 16 bytes,
 * which are valid until the next sync of the object. Also sets the length of the payload. Messages
 * are ordered by the number of their sender, and those of one sender in the order of sending. If
 * none is left, `*size` is LPF_INVALID_SIZE, and `*tag` and `*payload` are null. Local. Each
 * pointer may be null. LPF_ERR_BSMP_INVAL: the object is invalid. */
lpf_err_t lpf_move(lpf_bsmp_t bsmp, void** tag, void** payload, size_t* size);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#endif
