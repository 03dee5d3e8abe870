/* SPDX-License-Identifier: Apache-2.0
 *
 * A check in C99 that ends the process, and with it the test, if it fails.
 */
#ifndef TESTS_LPF_CHECK_H
#define TESTS_LPF_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      fflush(NULL);                                                          \
      _Exit(3);                                                              \
    }                                                                        \
  } while (0)

#endif
