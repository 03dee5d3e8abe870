// SPDX-License-Identifier: Apache-2.0
//
// Start, end and error reports of all programs here. A report names the rank, the collective and
// the case, and ends the job with status 1.
#ifndef TUTTI_TESTS_PRELOAD_CHECK_H
#define TUTTI_TESTS_PRELOAD_CHECK_H

#include <mpi.h>
#include <stddef.h>

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Prints "FAILED rank R of P: COLLECTIVE: ..." and ends the job.
_Noreturn void fail(const char* collective, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Fails unless an MPI call returned MPI_SUCCESS.
void expect_success(int code, const char* collective, const char* what);

/// Ends MPI. Rank 0 prints the number of cases, which does not depend on what served them. Returns
/// main()'s result.
int finish(const char* program, long cases);

/// Returns the number in the program's argument `name=`, or `otherwise`.
long argument(int argc, char** argv, const char* name, long otherwise);

/// malloc that never fails, and also returns memory for 0 bytes.
void* checked_malloc(size_t bytes);

#endif
