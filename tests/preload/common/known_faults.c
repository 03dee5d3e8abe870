// SPDX-License-Identifier: Apache-2.0
#include "known_faults.h"

#include "check.h"

#ifdef OPEN_MPI

int move_has_known_fault(enum collective which, const struct move* move, int nonblocking) {
  const int ranks = size_of(move->comm);
  // On one rank, alltoallw takes its displacements as counts of elements.
  if (ranks == 1 && which == ALLTOALLW) return 1;
  // On a communicator with a topology, ialltoallw reads a datatype for each neighbor.
  int topology = MPI_UNDEFINED;
  MPI_Topo_test(move->comm, &topology);
  if (nonblocking && which == ALLTOALLW && topology != MPI_UNDEFINED) return 1;
  // Nonblocking in-place calls mix up blocks of different lengths.
  return ranks > 2 && nonblocking && move->in_place && (which == ALLTOALLV || which == ALLTOALLW);
}

int reduction_has_known_fault(enum collective which, const struct reduction* reduction, int nonblocking) {
  // If elements reach below their address, it writes before its scratch memory.
  if (!nonblocking || size_of(reduction->comm) < 3) return 0;
  for (int i = 0; i < reduction->algebra->layout->items; ++i) {
    if (reduction->algebra->layout->offset[i] < 0) return 1;
  }
  (void)which;
  return 0;
}

#else

int move_has_known_fault(enum collective which, const struct move* move, int nonblocking) {
  (void)nonblocking;
  // On one rank, allgatherv ignores its displacement.
  return size_of(move->comm) == 1 && which == ALLGATHERV && move->gaps;
}

int reduction_has_known_fault(enum collective which, const struct reduction* reduction, int nonblocking) {
  // A lower bound other than 0 gives wrong results if the number of ranks is a power of two and the
  // operator is not commutative.
  int commutes = 0;
  MPI_Aint low = 0, extent = 0;
  MPI_Op_commutative(reduction->algebra->op, &commutes);
  MPI_Type_get_extent(reduction->algebra->layout->type, &low, &extent);
  const int ranks = size_of(reduction->comm);
  if (which == REDUCE_SCATTER_BLOCK && (ranks & (ranks - 1)) == 0 && low != 0 && !commutes) return 1;
  // It copies between overlapping ranges, and aborts.
  if (which == REDUCE_SCATTER && reduction->in_place && reduction->count > 1000) return 1;
  // It uses MPI_IN_PLACE as an address.
  return which == REDUCE && !nonblocking && reduction->in_place && reduction->root != 0;
}

#endif
