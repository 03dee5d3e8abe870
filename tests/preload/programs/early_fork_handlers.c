// SPDX-License-Identifier: Apache-2.0
//
// A library whose fork handlers allocate memory and write to their own, as those of other libraries
// do. The loader initializes it before the libraries of LD_PRELOAD.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 100000 };
static char* own;

static void allocate(void) { free(memset(malloc(bytes), 1, bytes)); }
static void write_in_child(void) {
  memset(own, 'c', bytes);
  allocate();
}

__attribute__((constructor)) static void begin(void) {
  own = malloc(bytes);
  memset(own, 'p', bytes);
  pthread_atfork(allocate, allocate, write_in_child);
}

// What the handlers have left: 'p' in the parent, 'c' in a child.
char early_fork_handlers_left(void) { return own[bytes / 2]; }
