// SPDX-License-Identifier: Apache-2.0
//
// All collectives of MPI 3.1 behind one function, blocking or not, so that a case is written once.
#ifndef TUTTI_TESTS_PRELOAD_CALLS_H
#define TUTTI_TESTS_PRELOAD_CALLS_H

#include <mpi.h>

enum collective {
  BARRIER,
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  SCAN,
  EXSCAN,
  COLLECTIVES
};

/// The arguments of all collectives; each collective reads those that it needs. Bcast has its
/// buffer in `recv`.
struct args {
  const void* send;
  void* recv;
  int send_count, recv_count;
  const int *send_counts, *recv_counts, *send_displs, *recv_displs;
  MPI_Datatype send_type, recv_type;
  const MPI_Datatype *send_types, *recv_types;
  MPI_Op op;
  int root;
  MPI_Comm comm;
};

const char* name_of(enum collective which);

/// Makes the call; it is nonblocking if `request` is not null.
int call(enum collective which, const struct args* a, MPI_Request* request);

#endif
