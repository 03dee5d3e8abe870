// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}

void fail(const char* collective, const char* format, ...) {
  char message[1000];
  va_list rest;
  va_start(rest, format);
  vsnprintf(message, sizeof message, format, rest);
  va_end(rest);
  // One write, so that lines of several ranks do not mix.
  fprintf(stderr, "FAILED rank %d of %d: %s: %s\n", rank_in(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD),
          collective, message);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

void expect_success(int code, const char* collective, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[8192] = "";  // MPICH 4.0 writes beyond MPI_MAX_ERROR_STRING
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(collective, "%s: it gave %d: %s", what, code, text);
}

int finish(const char* program, long cases) {
  int rank = rank_in(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %ld cases\n", program, cases);
  return cases > 0 ? 0 : 1;
}

long argument(int argc, char** argv, const char* name, long otherwise) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
      return strtol(argv[i] + length + 1, NULL, 10);
  }
  return otherwise;
}

void* checked_malloc(size_t bytes) {
  void* memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) fail("malloc", "%zu bytes", bytes);
  return memory;
}
