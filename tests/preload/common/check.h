// SPDX-License-Identifier: Apache-2.0
//
// What every program here does at its beginning and its end, and where a rank finds something wrong: it says
// which rank, which collective and which case, and the job ends with 1.
#ifndef TUTTI_TESTS_PRELOAD_CHECK_H
#define TUTTI_TESTS_PRELOAD_CHECK_H

#include <mpi.h>
#include <stddef.h>

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Says "FAILED rank R of P: COLLECTIVE: ..." and ends the job.
_Noreturn void fail(const char* collective, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Fails unless a call of MPI gave MPI_SUCCESS.
void expect_success(int code, const char* collective, const char* what);

/// Ends MPI; rank 0 says how many cases there were, which is the same whatever served them. Returns main()'s
/// result.
int finish(const char* program, long cases);

/// The number that the argument of the program named `name=` has, or `otherwise`.
long argument(int argc, char** argv, const char* name, long otherwise);

/// malloc that does not fail, and gives memory for no bytes too.
void* room_for(size_t bytes);

#endif
