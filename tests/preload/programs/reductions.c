// SPDX-License-Identifier: Apache-2.0
//
// Tests collectives that reduce ints and doubles with predefined operators: every size, every root,
// in place, uneven. Each runs blocking, and nonblocking with all in progress at once.
#include <string.h>

#include "check.h"
#include "known_faults.h"
#include "reducing_calls.h"

enum { MOST = 64 };

static void int_value(char* element, int rank, long index) {
  const int value = (int)((rank + 1) * 1000003L + index * 77);
  memcpy(element, &value, sizeof value);
}

static void int_sum(const char* left, const char* right, char* result) {
  unsigned a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  a += b;
  memcpy(result, &a, sizeof a);
}

static void int_max(const char* left, const char* right, char* result) {
  int a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  memcpy(result, a > b ? &a : &b, sizeof a);
}

/// Small integers, so that sums do not depend on the order.
static void double_value(char* element, int rank, long index) {
  const double value = (double)((rank * 31 + index) % 1000) - 400;
  memcpy(element, &value, sizeof value);
}

static void double_sum(const char* left, const char* right, char* result) {
  double a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  a += b;
  memcpy(result, &a, sizeof a);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = size_of(MPI_COMM_WORLD);
  const struct layout ints = {
      .name = "int", .type = MPI_INT, .named = 1, .items = 1, .size = {4}, .extent = 4};
  const struct layout doubles = {
      .name = "double", .type = MPI_DOUBLE, .named = 1, .items = 1, .size = {8}, .extent = 8};
  const struct algebra algebras[] = {{"sum", &ints, MPI_SUM, 4, int_value, int_sum},
                                     {"max", &ints, MPI_MAX, 4, int_value, int_max},
                                     {"sum", &doubles, MPI_SUM, 8, double_value, double_sum}};
  static const long counts[] = {0, 1, 17, 1000, 131072};
  static struct job jobs[MOST];
  const int all = argument(argc, argv, "all", 0) != 0;
  long cases = 0;
  for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
    for (enum collective which = REDUCE; which <= EXSCAN; ++which) {
      for (int c = 0; c < 5; ++c) {
        const int large = c == 4;
        int n = 0;
        for (int root = 0; root < (which == REDUCE && !large ? ranks : 1); ++root) {
          for (int in_place = 0; in_place < 2; ++in_place) {
            const long count = large && elements_of(which, &(struct reduction){.count = 1}, ranks) > 1
                                   ? counts[c] / ranks
                                   : counts[c];
            const struct reduction r = {MPI_COMM_WORLD, &algebras[cases % 3], count, root, in_place};
            if (!all && reduction_has_known_fault(which, &r, nonblocking)) continue;
            make_reduction(&jobs[n], which, &r);
            start(&jobs[n], nonblocking);
            ++cases;
            if (nonblocking && n + 1 < MOST) {
              ++n;
            } else {
              complete(&jobs[n]);
            }
          }
        }
        while (n > 0) complete(&jobs[--n]);
      }
    }
  }
  return finish("reductions", cases);
}
