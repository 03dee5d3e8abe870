// SPDX-License-Identifier: Apache-2.0
#include "known.h"

#include "check.h"

#ifdef OPEN_MPI

int move_known_wrong(enum collective which, const struct move* move, int nonblocking) {
  const int ranks = size_of(move->comm);
  // Alone, alltoallw takes its displacements for counts of elements.
  if (ranks == 1 && which == ALLTOALLW) return 1;
  // Nonblocking in place it mixes up the blocks where they differ in length.
  return ranks > 2 && nonblocking && move->in_place && (which == ALLTOALLV || which == ALLTOALLW);
}

int reduction_known_wrong(enum collective which, const struct reduction* reduction, int nonblocking) {
  (void)which, (void)reduction, (void)nonblocking;
  return 0;
}

#else

int move_known_wrong(enum collective which, const struct move* move, int nonblocking) {
  (void)nonblocking;
  // Alone, allgatherv takes no notice of its displacement.
  return size_of(move->comm) == 1 && which == ALLGATHERV && move->gaps;
}

int reduction_known_wrong(enum collective which, const struct reduction* reduction, int nonblocking) {
  // It copies between ranges that overlap, and stops itself.
  if (which == REDUCE_SCATTER && reduction->in_place && reduction->count > 1000) return 1;
  // It reads from MPI_IN_PLACE as if that were an address.
  return which == REDUCE && !nonblocking && reduction->in_place && reduction->root != 0;
}

#endif
