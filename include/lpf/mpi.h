/* SPDX-License-Identifier: Apache-2.0
 *
 * LPF in programs that initialize MPI themselves. Link tutti::lpf_mpi, or tutti::lpf_openmpi or
 * tutti::lpf_mpich to select the MPI; with pkg-config, tutti-lpf-mpi-openmpi or
 * tutti-lpf-mpi-mpich.
 *
 * A program that calls lpf_hook() itself defines `const int LPF_MPI_AUTO_INITIALIZE = 0;`. All
 * processes of an mpirun then enter main.
 */
#ifndef LPF_MPI_H
#define LPF_MPI_H

#include <mpi.h>

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/** If it is not 0, as in the library, all processes of an MPI job except the first wait for
 * lpf_exec() before main. */
extern const int LPF_MPI_AUTO_INITIALIZE;

/** Prepares lpf_hook() over the members of `comm`, which the program keeps. Collective over it; MPI
 * must be initialized. LPF_ERR_FATAL: `comm` is not an intracommunicator. */
lpf_err_t lpf_mpi_initialize_with_mpicomm(MPI_Comm comm, lpf_init_t* init);

/** The same for `nprocs` processes that connect at a port of a host. `server` is a name or an
 * address of the host of process 0, and `port` a number or the name of a service. `timeout` is in
 * milliseconds. Each process passes a different `pid`. Initializes MPI if necessary, and then
 * finalizes it at exit(). LPF_ERR_FATAL: the processes do not connect in time, do not agree, or
 * were not started together by one launcher. */
lpf_err_t lpf_mpi_initialize_over_tcp(const char* server, const char* port, int timeout, lpf_pid_t pid,
                                      lpf_pid_t nprocs, lpf_init_t* init);

/** Destroys the result of either function. Collective. If other processes call lpf_hook() instead,
 * all calls return LPF_ERR_FATAL. */
lpf_err_t lpf_mpi_finalize(lpf_init_t init);

#ifdef __cplusplus
}
#endif
TUTTI_API_END

#endif
