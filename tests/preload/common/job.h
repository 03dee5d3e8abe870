// SPDX-License-Identifier: Apache-2.0
//
// A collective call with its memory: the contents before it, and every expected byte after it,
// including gaps and guards. Several jobs may be in progress.
#ifndef TUTTI_TESTS_PRELOAD_JOB_H
#define TUTTI_TESTS_PRELOAD_JOB_H

#include "calls.h"
#include "layouts.h"

/// `items` basic elements `at` bytes from the base of a buffer. Their contents before and after the
/// call are a key of write_items(), 0 for unwritten memory, or packed elements in `values`.
struct part {
  const struct layout* layout;
  ptrdiff_t at;
  long items;
  unsigned before, after;
  const char *values_before, *values_after;
};

struct memory {
  char *bytes, *expected, *base;
  size_t size;
  struct part open;  // items that are undefined after the call
};

struct job {
  enum collective which;
  struct args args;
  struct memory send, recv;
  int* numbers;  // counts and displacements of the call
  MPI_Datatype* types;
  int own_types;
  int nonblocking;
  MPI_Request request;
  char name[160];
};

/// Allocates memory for these parts, with guards around it.
struct memory remember(const struct part* parts, int n);

/// Makes the call; a nonblocking call is then in progress. Frees datatypes of the job at once.
void start(struct job* job, int nonblocking);

/// Waits for a nonblocking call, then calls check() and drop().
void complete(struct job* job);
void check(const struct job* job);
void drop(struct job* job);

#endif
