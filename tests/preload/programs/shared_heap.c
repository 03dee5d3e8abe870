// SPDX-License-Identifier: Apache-2.0
//
// Tests where the program's memory lies: that of MPI_Alloc_mem, and with heap=1 long allocations
// of the C library's functions, in the memory that other processes can map; all other memory
// elsewhere. The contents survive moves, and forked children do not change those of the parent.
// without=1: the program runs without the library.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

char early_fork_handlers_left(void);

enum { small = 60000, large = 70000 };

static int in_shared_memory(const void* p) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) fail("maps", "cannot be read");
  char line[512];
  int found = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    uintmax_t begin = 0, end = 0;
    if (sscanf(line, "%jx-%jx", &begin, &end) == 2 && begin <= (uintptr_t)p && (uintptr_t)p < end)
      found = strstr(line, "memfd:tutti-arena") != NULL;
  }
  fclose(maps);
  return found;
}

static void expect_place(const void* p, int shared, const char* what) {
  if (p == NULL) fail(what, "returned no memory");
  if (in_shared_memory(p) != shared)
    fail(what, "the memory is %s that other processes can map", shared ? "not in the memory" : "in the memory");
}

static void expect_bytes(const void* p, int value, size_t n, const char* what) {
  for (size_t i = 0; i < n; ++i)
    if (((const unsigned char*)p)[i] != value)
      fail(what, "byte %zu is %d instead of %d", i, ((const unsigned char*)p)[i], value);
}

// The compiler must not omit allocations.
static void* volatile kept;
static void* keep(void* p) {
  kept = p;
  return kept;
}

static void memory_of_mpi(int shared) {
  double* p = NULL;
  expect_success(MPI_Alloc_mem(800000, MPI_INFO_NULL, &p), "MPI_Alloc_mem", "800000 bytes");
  expect_place(p, shared, "MPI_Alloc_mem");
  for (int i = 0; i < 100000; ++i) p[i] = 1;
  double* sum = NULL;
  expect_success(MPI_Alloc_mem(800000, MPI_INFO_NULL, &sum), "MPI_Alloc_mem", "a second one");
  expect_success(MPI_Allreduce(p, sum, 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce", "sum");
  if (sum[99999] != size_of(MPI_COMM_WORLD)) fail("MPI_Allreduce", "the sum is %g", sum[99999]);
  expect_success(MPI_Free_mem(p), "MPI_Free_mem", "the first");
  expect_success(MPI_Free_mem(sum), "MPI_Free_mem", "the second");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
  expect_success(MPI_Alloc_mem(10000, info, &p), "MPI_Alloc_mem", "with an info object");
  expect_place(p, 0, "MPI_Alloc_mem with an info object");
  expect_success(MPI_Free_mem(p), "MPI_Free_mem", "with an info object");
  MPI_Info_free(&info);
  char* little = NULL;
  expect_success(MPI_Alloc_mem(10, MPI_INFO_NULL, &little), "MPI_Alloc_mem", "10 bytes");
  expect_place(little, shared, "MPI_Alloc_mem");
  memset(little, 1, 10);
  expect_success(MPI_Free_mem(little), "MPI_Free_mem", "10 bytes");
}

static void functions_of_the_heap(int shared) {
  void* p = keep(malloc(large));
  expect_place(p, shared, "malloc");
  if (malloc_usable_size(p) < large) fail("malloc_usable_size", "%zu", malloc_usable_size(p));
  void* little = keep(malloc(small));
  expect_place(little, 0, "malloc");
  if (malloc_usable_size(little) < small) fail("malloc_usable_size", "%zu", malloc_usable_size(little));
  memset(little, 5, small);
  little = keep(realloc(little, large));  // across the limit
  expect_place(little, shared, "realloc");
  expect_bytes(little, 5, small, "realloc");
  memset(little, 6, large);
  little = keep(realloc(little, 10 * large));
  expect_place(little, shared, "realloc");
  expect_bytes(little, 6, large, "realloc");
  little = keep(realloc(little, small));
  expect_place(little, 0, "realloc");
  expect_bytes(little, 6, small, "realloc");
  free(little);

  memset(p, 9, large);
  free(p);
  p = keep(calloc(large, 1));  // the same memory again
  expect_place(p, shared, "calloc");
  expect_bytes(p, 0, large, "calloc");
  free(p);
  p = keep(calloc(100, 1));
  expect_place(p, 0, "calloc");
  free(p);
  p = keep(reallocarray(NULL, large, 2));
  expect_place(p, shared, "reallocarray");
  free(p);
  volatile size_t many = SIZE_MAX / 2;
  errno = 0;
  if (keep(calloc(many, 4)) != NULL) fail("calloc", "returned memory for too many elements");
  if (keep(reallocarray(NULL, many, 4)) != NULL || errno != ENOMEM) fail("reallocarray", "errno %d", errno);
  if (keep(malloc(many)) != NULL) fail("malloc", "returned memory for half of the addresses");

  for (size_t alignment = sizeof(void*); alignment <= (size_t)4 << 20; alignment *= 2) {
    void* aligned[3] = {NULL, keep(aligned_alloc(alignment, large)), keep(memalign(alignment, large))};
    if (posix_memalign(&aligned[0], alignment, large) != 0) fail("posix_memalign", "%zu", alignment);
    for (int i = 0; i < 3; ++i) {
      expect_place(aligned[i], shared, "aligned memory");
      if ((uintptr_t)aligned[i] % alignment != 0) fail("aligned memory", "function %d, %zu", i, alignment);
      memset(aligned[i], 1, large);
    }
    for (int i = 0; i < 3; ++i) free(aligned[i]);
  }
  if (posix_memalign(&p, 24, large) != EINVAL) fail("posix_memalign", "accepted 24");
  p = keep(valloc(large));
  expect_place(p, shared, "valloc");
  if ((uintptr_t)p % (uintptr_t)sysconf(_SC_PAGESIZE) != 0) fail("valloc", "is not aligned");
  free(p);
  free(keep(NULL));
}

static void* allocate_often(void* seed) {
  unsigned state = (unsigned)(uintptr_t)seed;
  unsigned char* all[16] = {NULL};
  size_t bytes[16] = {0};
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525u + 1013904223u;
    const unsigned k = state >> 28;
    expect_bytes(all[k], (int)k, bytes[k] < 100 ? bytes[k] : 100, "a thread");
    const size_t now = (state >> 8) % (3 * large);
    all[k] = (state & 128) != 0 ? realloc(all[k], now + 1) : (free(all[k]), malloc(now + 1));
    bytes[k] = now + 1;
    memset(all[k], (int)k, bytes[k]);
  }
  for (int k = 0; k < 16; ++k) free(all[k]);
  return NULL;
}

static void threads(void) {
  pthread_t all[3];
  for (uintptr_t t = 0; t < 3; ++t) pthread_create(&all[t], NULL, allocate_often, (void*)(t + 1));
  for (int t = 0; t < 3; ++t) pthread_join(all[t], NULL);
}

static void expect_child(pid_t child, const char* what) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) fail(what, "no child");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail(what, "the child ended with status %d", status);
}

static void children(void) {
  unsigned char* const p = keep(malloc(large));
  memset(p, 1, large);
  pid_t child = fork();
  if (child == 0) {
    if (early_fork_handlers_left() != 'c') _exit(3);
    memset(p, 2, large);
    unsigned char* const other = keep(malloc(large));
    if (other == NULL || in_shared_memory(other)) _exit(1);
    memset(other, 3, large);
    unsigned char* const longer = keep(realloc(p, 2 * large));
    if (longer == NULL || longer[large - 1] != 2) _exit(2);
    free(longer);
    free(other);
    _exit(0);
  }
  expect_child(child, "fork");
  expect_bytes(p, 1, large, "memory after a child has written");
  if (early_fork_handlers_left() != 'p') fail("fork", "a handler of a child has changed the parent's memory");
  child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 0", (char*)NULL);
    _exit(1);
  }
  expect_child(child, "exec");
  if (system("exit 0") != 0) fail("system", "failed");
  free(p);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int heap = (int)argument(argc, argv, "heap", 0), without = (int)argument(argc, argv, "without", 0);
  memory_of_mpi(!without && size_of(MPI_COMM_WORLD) > 1);  // else nobody could map it
  functions_of_the_heap(heap);
  threads();
  children();
  MPI_Barrier(MPI_COMM_WORLD);
  return finish("shared_heap", 4);
}
