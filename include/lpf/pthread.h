/* SPDX-License-Identifier: Apache-2.0
 *
 * LPF on threads that the program has made itself.
 */
#ifndef LPF_PTHREAD_H
#define LPF_PTHREAD_H

#include "lpf/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called by `nprocs` threads, each with another `pid` of 0 .. nprocs - 1; returns when all have called it. What it
 * makes serves any number of lpf_hook() calls by this thread. LPF_ERR_OUT_OF_MEMORY, on all threads: there is no
 * memory. LPF_ERR_FATAL: the threads do not agree. */
lpf_err_t lpf_pthread_initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init);

/** Ends it; by each thread for its own. */
lpf_err_t lpf_pthread_finalize(lpf_init_t init);

#ifdef __cplusplus
}
#endif

#endif
