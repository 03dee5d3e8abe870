/* SPDX-License-Identifier: Apache-2.0
 *
 * The core of LPF (Lightweight Parallel Foundations), for C99 and C++: processes that work on memory of their
 * own, write to and read from one another's by lpf_put() and lpf_get(), and meet in lpf_sync(). What was
 * scheduled between two of these meetings, a superstep, is complete after the second. Nothing waits but
 * lpf_sync(), so a program cannot deadlock.
 *
 * Programs written for LPF 1.0 compile against these headers unchanged. Link tutti::lpf (CMake) or
 * `pkg-config tutti-lpf`. One binary runs its processes as threads or fibers of one process, and under
 * mpirun: environment variables (docs/environment.md) say which and how many.
 *
 * All functions return LPF_SUCCESS, LPF_ERR_OUT_OF_MEMORY (then nothing has changed) or LPF_ERR_FATAL. The
 * last is sticky: the context is useless from then on, and its other processes learn it in their next sync.
 * What is found wrong with the arguments of a call is written to standard error with the process, the
 * argument and the remedy.
 */
#ifndef LPF_CORE_H
#define LPF_CORE_H

#include <stddef.h>

/** The specification that is implemented. */
#define _LPF_VERSION 202000L

/** Areas that are registered may overlap, and one may include another; each registration has a slot of its
 * own. */
#define _LPF_INCLUSIVE_MEMORY 1

#ifdef __cplusplus
extern "C" {
#endif

/* Where the program found this header: a static library finds its installation by it, and there the modules
 * of the MPIs. Every file that includes the header has it; the linker keeps one. */
#ifndef TUTTI_LPF_LIBRARY
extern __attribute__((weak)) const char tutti_lpf_header[];
const char tutti_lpf_header[] = __FILE__;
#endif

/** A context: what a process knows of the section of a program that it runs in parallel with others. */
typedef void* lpf_t;
/** A process, 0 .. nprocs - 1; a number of processes. */
typedef unsigned lpf_pid_t;
/** How a call ended. */
typedef int lpf_err_t;
/** Hints to lpf_sync(); there is none but LPF_SYNC_DEFAULT. */
typedef int lpf_sync_attr_t;
/** Hints to lpf_put() and lpf_get(); there is none but LPF_MSG_DEFAULT. */
typedef int lpf_msg_attr_t;
/** Memory that was registered. */
typedef size_t lpf_memslot_t;
/** What lpf_hook() needs to know of threads or processes that exist; made by lpf/mpi.h or lpf/pthread.h. */
typedef void* lpf_init_t;
/** Any function; cast it back before calling it. */
typedef void (*lpf_func_t)();

/** What goes in and comes out of a section. */
typedef struct lpf_args {
  const void* input;           /**< may be null where input_size is 0 */
  size_t input_size;           /**< bytes */
  void* output;                /**< may be null where output_size is 0 */
  size_t output_size;          /**< bytes */
  const lpf_func_t* f_symbols; /**< functions that all processes shall be able to call, static ones too */
  size_t f_size;               /**< how many */
} lpf_args_t;

/** A section: what all processes run. */
typedef void (*lpf_spmd_t)(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs,
                           const lpf_args_t args);

/** The machine, as a BSP computer: a superstep in which no process sends or receives more than h bytes costs
 * h g + l seconds. */
typedef struct lpf_machine {
  lpf_pid_t p;      /**< processes of this machine */
  lpf_pid_t free_p; /**< of these, how many lpf_exec() can use here; 1 in a section that has them all */
  /** Seconds a byte, where messages have `min_msg_size` bytes or more. Positive and finite for all arguments,
   * and bitwise the same on all processes. */
  double (*g)(lpf_pid_t p, size_t min_msg_size, lpf_sync_attr_t attr);
  /** Seconds of a superstep without bytes. Likewise. */
  double (*l)(lpf_pid_t p, size_t min_msg_size, lpf_sync_attr_t attr);
} lpf_machine_t;

extern const lpf_err_t LPF_SUCCESS;
extern const lpf_err_t LPF_ERR_OUT_OF_MEMORY; /**< nothing has changed */
extern const lpf_err_t LPF_ERR_FATAL;         /**< and so it stays */
extern const lpf_sync_attr_t LPF_SYNC_DEFAULT;
extern const lpf_msg_attr_t LPF_MSG_DEFAULT;
extern const lpf_pid_t LPF_MAX_P; /**< to lpf_exec(): as many processes as are free */
extern const lpf_memslot_t LPF_INVALID_MEMSLOT;
/** The context outside of all sections: of one process, which registers, resizes, puts, gets and syncs with
 * it as in a section. It belongs to the thread that uses it first. While a section runs in the process, calls
 * on it are LPF_ERR_FATAL. */
extern const lpf_t LPF_ROOT;
extern const lpf_t LPF_NONE; /**< no context */
extern const lpf_init_t LPF_INIT_NONE;
extern const lpf_args_t LPF_NO_ARGS;
extern const lpf_machine_t LPF_INVALID_MACHINE;

/** Runs `spmd` on P processes, or on as many as are free where P is more (which is said on standard error,
 * unless P is LPF_MAX_P); returns when all have returned. Process 0 alone is given input and output, all are
 * given the functions.
 *
 * From LPF_ROOT: on the embedded engines TUTTI_RANKS processes are free, or else as many as there are cores;
 * TUTTI_ENGINE says of what kind. Under mpirun the processes of the job, of which all but the first wait for
 * this call before main. From within a section: its share of the processes that the section has left free,
 * one at least; over MPI the own process alone.
 *
 * LPF_ERR_OUT_OF_MEMORY: the processes could not be made. LPF_ERR_FATAL: one of them failed, by something
 * else than a sync that others had missed by leaving; or functions are null and f_size is not 0; in checked
 * mode, or input or output are null and their size is not 0. A C++ exception that leaves `spmd` is such a
 * failure, which over MPI ends the whole job. */
lpf_err_t lpf_exec(lpf_t ctx, lpf_pid_t P, lpf_spmd_t spmd, lpf_args_t args);

/** Runs `spmd` on threads or processes that exist. Collective over those that made `init` together; each is
 * given its own arguments. */
lpf_err_t lpf_hook(lpf_init_t init, lpf_spmd_t spmd, lpf_args_t args);

/** Runs `spmd` on the processes of `ctx`, with registers and queues of its own, which begin with capacity 0.
 * Collective. The outer context may be used again afterwards; meanwhile lpf_sync() on it is LPF_ERR_FATAL.
 * Where other processes sync or leave instead, all get LPF_ERR_FATAL. */
lpf_err_t lpf_rehook(lpf_t ctx, lpf_spmd_t spmd, lpf_args_t args);

/** Registers `size` bytes at `pointer` for the puts and gets of all processes. Collective, in the same order
 * on all processes; sizes may differ, and `pointer` may be null where the size is 0. Usable after the next
 * sync; takes its place in the register at once. LPF_ERR_OUT_OF_MEMORY: the register is full. O(1). */
lpf_err_t lpf_register_global(lpf_t ctx, void* pointer, size_t size, lpf_memslot_t* memslot);

/** The same for this process alone, as the near side of puts and gets. Usable at once. */
lpf_err_t lpf_register_local(lpf_t ctx, void* pointer, size_t size, lpf_memslot_t* memslot);

/** Ends a registration, at once: nothing that uses the slot may have been scheduled in this superstep.
 * Collective, in the same order, for a global one. */
lpf_err_t lpf_deregister(lpf_t ctx, lpf_memslot_t memslot);

/** Schedules: `size` bytes from `src_offset` of the own slot go to `dst_offset` of a global slot of process
 * `dst_pid`, in the next sync. Until then the source may not change. Where writes of a superstep overlap, the
 * result is that of some order of them; what one message reads, no other may write. LPF_ERR_OUT_OF_MEMORY:
 * the queue is full. O(1). */
lpf_err_t lpf_put(lpf_t ctx, lpf_memslot_t src_slot, size_t src_offset, lpf_pid_t dst_pid,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

/** Its mirror: from a global slot of process `src_pid` into the own slot. */
lpf_err_t lpf_get(lpf_t ctx, lpf_pid_t src_pid, lpf_memslot_t src_slot, size_t src_offset,
                  lpf_memslot_t dst_slot, size_t dst_offset, size_t size, lpf_msg_attr_t attr);

/** Ends the superstep: returns when all that this process sends and receives is where it belongs. Collective.
 * LPF_ERR_FATAL where a process has left the section, or has failed; where a reducer or a combiner has thrown
 * on this process, of which the others learn in their next sync; and on a context whose section has ended. */
lpf_err_t lpf_sync(lpf_t ctx, lpf_sync_attr_t attr);

/** What the machine is. Local. The figures are measured once per engine, on the first use of the machine.
 * With LPF_ROOT: of the machine that lpf_exec() would use. */
lpf_err_t lpf_probe(lpf_t ctx, lpf_machine_t* params);

/** How many slots there may be, global and local together; from the next sync on. At the beginning 0. Fewer
 * than there are is as many as there are. LPF_ERR_OUT_OF_MEMORY: so large a register cannot be had. */
lpf_err_t lpf_resize_memory_register(lpf_t ctx, size_t max_regs);

/** How many messages a process may send and receive in one superstep; from the next sync on. At the beginning
 * 0. A message counts at both its ends. LPF_ERR_OUT_OF_MEMORY: so long a queue cannot be had. */
lpf_err_t lpf_resize_message_queue(lpf_t ctx, size_t max_msgs);

#ifdef __cplusplus
}
#endif

#ifdef LPF_CHECKED
#include "lpf/checked.h"
#endif

#endif
