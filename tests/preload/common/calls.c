// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <stddef.h>

#include "check.h"

const char* name_of(enum collective which) {
  static const char* const names[] = {
      "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
      "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
      "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
      "scan",      "exscan"};
  return names[which];
}

static int block(enum collective which, const struct args* a) {
  switch (which) {
    case BARRIER:
      return MPI_Barrier(a->comm);
    case BCAST:
      return MPI_Bcast(a->recv, a->recv_count, a->recv_type, a->root, a->comm);
    case GATHER:
      return MPI_Gather(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->root,
                        a->comm);
    case GATHERV:
      return MPI_Gatherv(a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->recv_displs,
                         a->recv_type, a->root, a->comm);
    case SCATTER:
      return MPI_Scatter(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->root,
                         a->comm);
    case SCATTERV:
      return MPI_Scatterv(a->send, a->send_counts, a->send_displs, a->send_type, a->recv, a->recv_count,
                          a->recv_type, a->root, a->comm);
    case ALLGATHER:
      return MPI_Allgather(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                           a->comm);
    case ALLGATHERV:
      return MPI_Allgatherv(a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->recv_displs,
                            a->recv_type, a->comm);
    case ALLTOALL:
      return MPI_Alltoall(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                          a->comm);
    case ALLTOALLV:
      return MPI_Alltoallv(a->send, a->send_counts, a->send_displs, a->send_type, a->recv, a->recv_counts,
                           a->recv_displs, a->recv_type, a->comm);
    case ALLTOALLW:
      return MPI_Alltoallw(a->send, a->send_counts, a->send_displs, a->send_types, a->recv, a->recv_counts,
                           a->recv_displs, a->recv_types, a->comm);
    case REDUCE:
      return MPI_Reduce(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->root, a->comm);
    case ALLREDUCE:
      return MPI_Allreduce(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm);
    case REDUCE_SCATTER:
      return MPI_Reduce_scatter(a->send, a->recv, a->recv_counts, a->recv_type, a->op, a->comm);
    case REDUCE_SCATTER_BLOCK:
      return MPI_Reduce_scatter_block(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm);
    case SCAN:
      return MPI_Scan(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm);
    case EXSCAN:
      return MPI_Exscan(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm);
    case COLLECTIVES:
      break;
  }
  fail("call", "there is no collective %d", (int)which);
}

static int start(enum collective which, const struct args* a, MPI_Request* r) {
  switch (which) {
    case BARRIER:
      return MPI_Ibarrier(a->comm, r);
    case BCAST:
      return MPI_Ibcast(a->recv, a->recv_count, a->recv_type, a->root, a->comm, r);
    case GATHER:
      return MPI_Igather(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->root,
                         a->comm, r);
    case GATHERV:
      return MPI_Igatherv(a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->recv_displs,
                          a->recv_type, a->root, a->comm, r);
    case SCATTER:
      return MPI_Iscatter(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type, a->root,
                          a->comm, r);
    case SCATTERV:
      return MPI_Iscatterv(a->send, a->send_counts, a->send_displs, a->send_type, a->recv, a->recv_count,
                           a->recv_type, a->root, a->comm, r);
    case ALLGATHER:
      return MPI_Iallgather(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                            a->comm, r);
    case ALLGATHERV:
      return MPI_Iallgatherv(a->send, a->send_count, a->send_type, a->recv, a->recv_counts, a->recv_displs,
                             a->recv_type, a->comm, r);
    case ALLTOALL:
      return MPI_Ialltoall(a->send, a->send_count, a->send_type, a->recv, a->recv_count, a->recv_type,
                           a->comm, r);
    case ALLTOALLV:
      return MPI_Ialltoallv(a->send, a->send_counts, a->send_displs, a->send_type, a->recv, a->recv_counts,
                            a->recv_displs, a->recv_type, a->comm, r);
    case ALLTOALLW:
      return MPI_Ialltoallw(a->send, a->send_counts, a->send_displs, a->send_types, a->recv, a->recv_counts,
                            a->recv_displs, a->recv_types, a->comm, r);
    case REDUCE:
      return MPI_Ireduce(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->root, a->comm, r);
    case ALLREDUCE:
      return MPI_Iallreduce(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm, r);
    case REDUCE_SCATTER:
      return MPI_Ireduce_scatter(a->send, a->recv, a->recv_counts, a->recv_type, a->op, a->comm, r);
    case REDUCE_SCATTER_BLOCK:
      return MPI_Ireduce_scatter_block(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm, r);
    case SCAN:
      return MPI_Iscan(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm, r);
    case EXSCAN:
      return MPI_Iexscan(a->send, a->recv, a->recv_count, a->recv_type, a->op, a->comm, r);
    case COLLECTIVES:
      break;
  }
  fail("call", "there is no collective %d", (int)which);
}

int call(enum collective which, const struct args* a, MPI_Request* request) {
  return request != NULL ? start(which, a, request) : block(which, a);
}
