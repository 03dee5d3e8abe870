/* SPDX-License-Identifier: Apache-2.0
 *
 * LPF on threads that the program has created itself.
 */
#ifndef LPF_PTHREAD_H
#define LPF_PTHREAD_H

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** Prepares lpf_hook() on `nprocs` threads. Each calls it with another `pid` of 0 .. nprocs - 1,
 * and it returns when all have called it. The result serves any number of lpf_hook() calls by this
 * thread. LPF_ERR_OUT_OF_MEMORY, on all threads: no memory is left. LPF_ERR_FATAL: the threads do
 * not agree. */
lpf_err_t lpf_pthread_initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init);

/** Destroys the result; each thread destroys its own. */
lpf_err_t lpf_pthread_finalize(lpf_init_t init);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#endif
