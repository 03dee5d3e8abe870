/* SPDX-License-Identifier: Apache-2.0
 *
 * The core of LPF (Lightweight Parallel Foundations), for C99 and C++. Processes work on their own
 * memory, access that of other processes by lpf_put() and lpf_get(), and synchronise in lpf_sync().
 * Everything that was scheduled in a superstep, between two calls of lpf_sync(), is complete after
 * the second one. Only lpf_sync() blocks, so a program cannot deadlock.
 *
 * Programs written for LPF 1.0 compile against these headers unchanged. Link tutti::lpf (CMake) or
 * `pkg-config tutti-lpf`. One binary runs its processes as threads or fibers of one process, and
 * under mpirun. Environment variables (docs/environment.md) select the kind and number.
 *
 * All functions return LPF_SUCCESS, LPF_ERR_OUT_OF_MEMORY (then nothing has changed) or
 * LPF_ERR_FATAL. The last is permanent: the context cannot be used any more, and the next sync of
 * the other processes fails. Errors in arguments are reported on standard error with
 * the process, the argument and the remedy.
 */
#ifndef LPF_CORE_H
#define LPF_CORE_H

#include <stddef.h>

#include "tutti/detail/export.hpp"

/** The version of the implemented specification. */
#define _LPF_VERSION 202000L

/** Registered areas may overlap or contain one another; each registration has its own slot. */
#define _LPF_INCLUSIVE_MEMORY 1

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* The path of this header in the program. A static library uses it to find its installation, and
 * there the MPI modules. Every file that includes the header defines it; the linker keeps one. */
#ifndef TUTTI_LPF_LIBRARY
extern __attribute__((weak)) const char tutti_lpf_header[];
const char tutti_lpf_header[] = __FILE__;
#endif

/** A context: one process's view of a section of a program that it runs in parallel with others. */
typedef void* lpf_t;
/** A process, 0 .. nprocs - 1; or a number of processes. */
typedef unsigned lpf_pid_t;
/** The result of a call. */
typedef int lpf_err_t;
/** Hints to lpf_sync(); the only one is LPF_SYNC_DEFAULT. */
typedef int lpf_sync_attr_t;
/** Hints to lpf_put() and lpf_get(); the only one is LPF_MSG_DEFAULT. */
typedef int lpf_msg_attr_t;
/** A slot of registered memory. */
typedef size_t lpf_memslot_t;
/** The data that lpf_hook() needs about existing threads or processes; lpf/mpi.h or lpf/pthread.h
 * makes it. */
typedef void* lpf_init_t;
/** Any function; cast it back before calling it. */
typedef void (*lpf_func_t)();

/** The input and output of a section. */
typedef struct lpf_args {
  const void* input;           /**< may be null if input_size is 0 */
  size_t input_size;           /**< bytes */
  void* output;                /**< may be null if output_size is 0 */
  size_t output_size;          /**< bytes */
  const lpf_func_t* f_symbols; /**< functions that all processes can call, static ones too */
  size_t f_size;               /**< the number of functions */
} lpf_args_t;

/** A section: the function that all processes run. */
typedef void (*lpf_spmd_t)(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs,
                           const lpf_args_t args);

/** The machine, as a BSP computer. A superstep in which no process sends or receives more than h
 * bytes costs h g + l seconds. */
typedef struct lpf_machine {
  lpf_pid_t p;      /**< processes of this machine */
  lpf_pid_t free_p; /**< the number of these that lpf_exec() can use here; 1 if none is free */
  /** Seconds per byte, if messages have at least `min_msg_size` bytes. Positive and finite for all
   * arguments, and bitwise the same on all processes. */
  double (*g)(lpf_pid_t p, size_t min_msg_size, lpf_sync_attr_t attr);
  /** Seconds per superstep without bytes. The same properties hold. */
  double (*l)(lpf_pid_t p, size_t min_msg_size, lpf_sync_attr_t attr);
} lpf_machine_t;

extern const lpf_err_t LPF_SUCCESS;
extern const lpf_err_t LPF_ERR_OUT_OF_MEMORY; /**< nothing has changed */
extern const lpf_err_t LPF_ERR_FATAL;         /**< permanent */
extern const lpf_sync_attr_t LPF_SYNC_DEFAULT;
extern const lpf_msg_attr_t LPF_MSG_DEFAULT;
extern const lpf_pid_t LPF_MAX_P; /**< to lpf_exec(): as many processes as are free */
extern const lpf_memslot_t LPF_INVALID_MEMSLOT;
/** The context outside of all sections, of one process. It registers, resizes, puts, gets and syncs
 * like a context of a section. It belongs to the thread that uses it first. While a section runs
 * in the process, calls on it return LPF_ERR_FATAL. */
extern const lpf_t LPF_ROOT;
extern const lpf_t LPF_NONE; /**< no context */
extern const lpf_init_t LPF_INIT_NONE;
extern const lpf_args_t LPF_NO_ARGS;
extern const lpf_machine_t LPF_INVALID_MACHINE;

/** Runs `spmd` on P processes, and returns when all have returned. If fewer are free it runs on
 * those, and reports this on standard error unless P is LPF_MAX_P. Only process 0 receives input
 * and output; all receive the functions.
 *
 * From LPF_ROOT, on the embedded engines, TUTTI_RANKS processes are free, by default one per core;
 * TUTTI_ENGINE selects their kind. Under mpirun these are the processes of the job; all except the
 * first wait for this call before main. From within a section it is the caller's share of the
 * processes that the section left free, at least one. Over MPI it is only the caller itself.
 *
 * LPF_ERR_OUT_OF_MEMORY: the processes could not be created. LPF_ERR_FATAL: one of them failed,
 * other than by a sync that others missed because they had left. It is also returned if functions
 * are null and f_size is not 0. In checked mode it is returned if input or output are null and
 * their size is not 0. A C++ exception that leaves `spmd` is such a failure; over MPI it ends the
 * whole job. */
lpf_err_t lpf_exec(lpf_t ctx, lpf_pid_t P, lpf_spmd_t spmd, lpf_args_t args);

/** Runs `spmd` on existing threads or processes. Collective over those that made `init` together;
 * each passes its own arguments. */
lpf_err_t lpf_hook(lpf_init_t init, lpf_spmd_t spmd, lpf_args_t args);

/** Runs `spmd` on the processes of `ctx`, with separate registers and queues of initial capacity 0.
 * Collective. The outer context can be used again afterwards; until then lpf_sync() on it returns
 * LPF_ERR_FATAL. If other processes sync or leave instead, all get LPF_ERR_FATAL. */
lpf_err_t lpf_rehook(lpf_t ctx, lpf_spmd_t spmd, lpf_args_t args);

/** Registers `size` bytes at `pointer` for the puts and gets of all processes. Collective, in the
 * same order on all processes. Sizes may differ, and `pointer` may be null if the size is 0. The
 * slot can be used after the next sync; it takes its entry of the register at once.
 * LPF_ERR_OUT_OF_MEMORY: the register is full. O(1). */
lpf_err_t lpf_register_global(lpf_t ctx, void* pointer, size_t size, lpf_memslot_t* memslot);

/** The same for this process alone, as the local side of puts and gets. The slot can be used at
 * once. */
lpf_err_t lpf_register_local(lpf_t ctx, void* pointer, size_t size, lpf_memslot_t* memslot);

/** Ends a registration at once: nothing that uses the slot may have been scheduled in this
 * superstep. Collective, in the same order, for a global slot. */
lpf_err_t lpf_deregister(lpf_t ctx, lpf_memslot_t memslot);

/** Schedules a copy of `size` bytes from `src_offset` of the caller's slot to `dst_offset` of a
 * global slot of process `dst_pid`, in the next sync. The source must not change until then.
 * Overlapping writes of a superstep take effect in an unspecified order. Memory that one message
 * reads must not be written by another. LPF_ERR_OUT_OF_MEMORY: the queue is full. O(1). */
lpf_err_t lpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

/** The reverse: from a global slot of process `src_pid` into the caller's slot. */
lpf_err_t lpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

/** Ends the superstep: returns when everything that this process sends and receives has arrived.
 * Collective. LPF_ERR_FATAL: a process has left the section or has failed, or the section of the
 * context has ended. It is also returned, on all processes, if a reducer or combiner has thrown. */
lpf_err_t lpf_sync(lpf_t ctx, lpf_sync_attr_t attr);

/** The properties of the machine. Local. The costs are measured once per engine, at the first use
 * of the machine. For LPF_ROOT it is the machine that lpf_exec() would use. */
lpf_err_t lpf_probe(lpf_t ctx, lpf_machine_t* params);

/** Sets the number of slots, global and local together, from the next sync on. It is 0 at first. A
 * smaller number than the existing slots counts as that number. LPF_ERR_OUT_OF_MEMORY: no memory
 * for such a register. */
lpf_err_t lpf_resize_memory_register(lpf_t ctx, size_t max_regs);

/** Sets the number of messages that a process may send and receive in one superstep, from the next
 * sync on. It is 0 at first. A message counts at both its ends. LPF_ERR_OUT_OF_MEMORY: no memory
 * for such a queue. */
lpf_err_t lpf_resize_message_queue(lpf_t ctx, size_t max_msgs);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#ifdef LPF_CHECKED
#include "lpf/checked.h"
#endif

#endif
