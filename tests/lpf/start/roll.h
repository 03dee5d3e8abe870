/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared code of the programs of this folder, in C99: a file to which each process of a section
 * appends its number. So one process can find out which ones have run.
 */
#ifndef TESTS_LPF_START_ROLL_H
#define TESTS_LPF_START_ROLL_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lpf_check.h"

/* All processes get the name from the environment, which the test sets. */
static inline const char* roll_name(void) {
  const char* given = getenv("TUTTI_TEST_ROLL");
  return given != NULL ? given : "roll_of_test";
}

/* Appends of a few bytes are atomic. */
static inline void roll_sign(unsigned pid) {
  const int file = open(roll_name(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  CHECK(file >= 0);
  CHECK(write(file, &pid, sizeof pid) == (ssize_t)sizeof pid);
  close(file);
}

/* Whether exactly 0 .. processes - 1 have signed, each `times` times. */
static inline int roll_is(unsigned processes, unsigned times) {
  unsigned all = 0, pid = 0;
  unsigned* seen = (unsigned*)calloc(processes, sizeof *seen);
  FILE* file = fopen(roll_name(), "rb");
  int valid = file != NULL && seen != NULL;
  while (valid && fread(&pid, sizeof pid, 1, file) == 1) {
    ++all;
    valid = pid < processes && ++seen[pid] <= times;
  }
  if (file != NULL) fclose(file);
  free(seen);
  remove(roll_name());
  if (!valid || all != processes * times) fprintf(stderr, "signed: %u, last %u\n", all, pid);
  return valid && all == processes * times;
}

#endif
