// SPDX-License-Identifier: Apache-2.0
#include "known.h"

#include "check.h"

#ifdef OPEN_MPI

int move_known_wrong(enum collective which, const struct move* move, int nonblocking) {
  const int ranks = size_of(move->comm);
  // Alone, alltoallw takes its displacements for counts of elements.
  if (ranks == 1 && which == ALLTOALLW) return 1;
  // Of a communicator with a topology, ialltoallw reads a type for each neighbour.
  int topology = MPI_UNDEFINED;
  MPI_Topo_test(move->comm, &topology);
  if (nonblocking && which == ALLTOALLW && topology != MPI_UNDEFINED) return 1;
  // Nonblocking in place it mixes up the blocks where they differ in length.
  return ranks > 2 && nonblocking && move->in_place && (which == ALLTOALLV || which == ALLTOALLW);
}

int reduction_known_wrong(enum collective which, const struct reduction* reduction, int nonblocking) {
  // Where elements reach below their address it writes before its scratch.
  if (!nonblocking || size_of(reduction->comm) < 3) return 0;
  for (int i = 0; i < reduction->algebra->layout->items; ++i) {
    if (reduction->algebra->layout->offset[i] < 0) return 1;
  }
  (void)which;
  return 0;
}

#else

int move_known_wrong(enum collective which, const struct move* move, int nonblocking) {
  (void)nonblocking;
  // Alone, allgatherv takes no notice of its displacement.
  return size_of(move->comm) == 1 && which == ALLGATHERV && move->gaps;
}

int reduction_known_wrong(enum collective which, const struct reduction* reduction, int nonblocking) {
  // A lower bound that is not 0 leads it astray, where there are as many ranks as a power of two and their
  // order counts.
  int commutes = 0;
  MPI_Aint low = 0, extent = 0;
  MPI_Op_commutative(reduction->algebra->op, &commutes);
  MPI_Type_get_extent(reduction->algebra->layout->type, &low, &extent);
  const int ranks = size_of(reduction->comm);
  if (which == REDUCE_SCATTER_BLOCK && (ranks & (ranks - 1)) == 0 && low != 0 && !commutes) return 1;
  // It copies between ranges that overlap, and stops itself.
  if (which == REDUCE_SCATTER && reduction->in_place && reduction->count > 1000) return 1;
  // It reads from MPI_IN_PLACE as if that were an address.
  return which == REDUCE && !nonblocking && reduction->in_place && reduction->root != 0;
}

#endif
