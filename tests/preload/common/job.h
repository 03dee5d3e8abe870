// SPDX-License-Identifier: Apache-2.0
//
// A collective call with its memory: what lies in it before, and every byte of what must lie in it
// afterwards, gaps and guards included. Several may be under way.
#ifndef TUTTI_TESTS_PRELOAD_JOB_H
#define TUTTI_TESTS_PRELOAD_JOB_H

#include "calls.h"
#include "layouts.h"

/// `items` basic elements `at` bytes from the base of a buffer. What they are before the call and after it: a
/// key of write_items(), 0 for nothing written, or elements one after another, packed, in `values`.
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
  struct part open;  // items that may be anything afterwards
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

/// Memory for these parts, with guards around it.
struct memory remember(const struct part* parts, int n);

/// The call; nonblocking, it is under way afterwards. Types that the job made are freed at once.
void start(struct job* job, int nonblocking);

/// Waits where it is under way, then check(), then drop().
void complete(struct job* job);
void check(const struct job* job);
void drop(struct job* job);

#endif
