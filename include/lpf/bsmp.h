/* SPDX-License-Identifier: Apache-2.0
 *
 * BSMP, bulk-synchronous message passing, over LPF's core, for C99 and C++: messages of any length with a tag
 * are sent to a process, without a place at which they shall arrive, and are read in the superstep after the
 * sync.
 *
 * lpf_bsmp_sync() takes the place of lpf_sync(): it also completes what the program has scheduled itself. It
 * is two lpf_syncs: in the first each process tells its receivers how much they will get, in the second they
 * fetch it. No other function of these syncs.
 *
 * What an object needs of its context, beside what the program uses itself: two entries of the memory
 * register; of the message queue 4 max_messages + 2 p entries (two messages to itself for each that is sent,
 * without a tag one; one to each receiver; one from each sender; each counts at both its ends).
 *
 * All functions return LPF_SUCCESS, LPF_ERR_OUT_OF_MEMORY, LPF_ERR_FATAL as in lpf/core.h, LPF_ERR_BSMP_FULL
 * or LPF_ERR_BSMP_INVAL. After the last two nothing has changed. What is wrong with arguments is written to
 * standard error.
 */
#ifndef LPF_BSMP_H
#define LPF_BSMP_H

#include "lpf/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An object: what a process has sent in this superstep, and what it has received in the last. */
typedef struct lpf_bsmp_object* lpf_bsmp_t;

/** Not an object; null. */
extern const lpf_bsmp_t LPF_INVALID_BSMP;
/** More than the object was made for. */
extern const lpf_err_t LPF_ERR_BSMP_FULL;
/** An argument is wrong. */
extern const lpf_err_t LPF_ERR_BSMP_INVAL;
/** The length of no message: there is none left. */
extern const size_t LPF_INVALID_SIZE;

/** Makes an object over all processes of `ctx`; `s` and `p` are the own number and the number of them.
 * Collective, with the same tag_size. In one superstep this process can send `max_messages` with
 * `buffer_size` bytes of payload together, each with a tag of `tag_size` bytes; they may differ between
 * processes. It can receive whatever is sent to it.
 *
 * The object is used after the sync that follows. Memory: about twice what can be sent, 48 p bytes, and what
 * is received. LPF_ERR_OUT_OF_MEMORY: there is no memory, or the register is full. LPF_ERR_BSMP_INVAL: bsmp
 * is null, or s is not below p. */
lpf_err_t lpf_bsmp_create(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, size_t buffer_size, size_t tag_size,
                          size_t max_messages, lpf_bsmp_t* bsmp);

/** Ends an object, and sets it to LPF_INVALID_BSMP. Collective, in the same order. What it has received goes
 * with it. LPF_ERR_BSMP_INVAL: it is LPF_INVALID_BSMP, or messages have been sent since the last sync. */
lpf_err_t lpf_bsmp_destroy(lpf_bsmp_t* bsmp);

/** Sends a message to process `pid`: tag_size bytes at `tag_offset` of the slot `tag`, and `payload_size`
 * bytes at `payload_offset` of the slot `payload`. Slots may be local, and may be invalid where their size is
 * 0. Tag and payload are read in the next sync, and may not change until then. Local. A process may send to
 * itself.
 *
 * LPF_ERR_BSMP_FULL: more messages or bytes than the object was made for. LPF_ERR_BSMP_INVAL: no object, or
 * pid is no process. LPF_ERR_OUT_OF_MEMORY: the message queue of the context is full; further sends fail,
 * too, until the next sync. LPF_ERR_FATAL: a slot is invalid, or not as large. */
lpf_err_t lpf_send(lpf_bsmp_t bsmp, lpf_pid_t pid, lpf_memslot_t tag, size_t tag_offset,
                   lpf_memslot_t payload, size_t payload_offset, size_t payload_size);

/** Ends the superstep, as lpf_sync() does, and delivers what was sent. Messages of the superstep before that
 * have not been read are dropped. Collective. LPF_ERR_OUT_OF_MEMORY: the queue of the context is too short,
 * or there is no memory for what came: what this process sent, or what was sent to it, is lost, and the
 * others go on. */
lpf_err_t lpf_bsmp_sync(lpf_bsmp_t bsmp, lpf_sync_attr_t attr);

/** The same for `n` objects of one context, in two lpf_syncs together. Collective, with the same objects.
 * LPF_ERR_BSMP_INVAL: one is LPF_INVALID_BSMP, is there twice, or belongs to another context; then nothing
 * has been synced. n may be 0: nothing is done then. */
lpf_err_t lpf_bsmp_syncall(lpf_bsmp_t* bsmp, size_t n, lpf_sync_attr_t attr);

/** Takes the next message: sets where its tag and its payload lie, at multiples of 16 bytes, until the next
 * sync of the object, and how long the payload is. Messages come by the number of their sender, and in the
 * order in which it has sent them. Where there is none left `*size` is LPF_INVALID_SIZE, and `*tag` and
 * `*payload` are null. Local. Each pointer may be null. LPF_ERR_BSMP_INVAL: no object. */
lpf_err_t lpf_move(lpf_bsmp_t bsmp, void** tag, void** payload, size_t* size);

#ifdef __cplusplus
}
#endif

#endif
