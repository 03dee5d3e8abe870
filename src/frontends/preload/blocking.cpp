// SPDX-License-Identifier: Apache-2.0
//
// MPI's blocking collectives. Each entry point forwards to MPI or describes its arguments for
// tutti. Longer than a screen: there is one for each collective.
#include "frontends/preload/entry.hpp"

namespace {

using namespace tutti;
using namespace tutti::preload;

[[gnu::noinline]] int barrier_otherwise(MPI_Comm comm) {
  return blocking({.what = collective::barrier, .comm = comm}, [=] { return real<MPI_Barrier>(comm); });
}

[[gnu::noinline]] int bcast_otherwise(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return blocking({.what = collective::bcast,
                   .comm = comm,
                   .root = root,
                   .out = buffer,
                   .out_count = count,
                   .out_type = type},
                  [=] { return real<MPI_Bcast>(buffer, count, type, root, comm); });
}

[[gnu::noinline]] int gather_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                       int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  return blocking(
      {.what = collective::gather,
       .comm = comm,
       .root = root,
       .in = in,
       .in_count = in_count,
       .in_type = in_type,
       .out = out,
       .out_count = out_count,
       .out_type = out_type},
      [=] { return real<MPI_Gather>(in, in_count, in_type, out, out_count, out_type, root, comm); });
}

[[gnu::noinline]] int gatherv_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                        const int* out_counts, const int* out_displs, MPI_Datatype out_type,
                                        int root, MPI_Comm comm) {
  return blocking({.what = collective::gatherv,
                   .comm = comm,
                   .root = root,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_type = out_type,
                   .out_counts = out_counts,
                   .out_displs = out_displs},
                  [=] {
                    return real<MPI_Gatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type,
                                             root, comm);
                  });
}

[[gnu::noinline]] int scatter_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                        int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  return blocking(
      {.what = collective::scatter,
       .comm = comm,
       .root = root,
       .in = in,
       .in_count = in_count,
       .in_type = in_type,
       .out = out,
       .out_count = out_count,
       .out_type = out_type},
      [=] { return real<MPI_Scatter>(in, in_count, in_type, out, out_count, out_type, root, comm); });
}

[[gnu::noinline]] int scatterv_otherwise(const void* in, const int* in_counts, const int* in_displs,
                                         MPI_Datatype in_type, void* out, int out_count,
                                         MPI_Datatype out_type, int root, MPI_Comm comm) {
  return blocking({.what = collective::scatterv,
                   .comm = comm,
                   .root = root,
                   .in = in,
                   .in_type = in_type,
                   .in_counts = in_counts,
                   .in_displs = in_displs,
                   .out = out,
                   .out_count = out_count,
                   .out_type = out_type},
                  [=] {
                    return real<MPI_Scatterv>(in, in_counts, in_displs, in_type, out, out_count, out_type,
                                              root, comm);
                  });
}

[[gnu::noinline]] int allgather_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                          int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  return blocking({.what = collective::allgather,
                   .comm = comm,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_count = out_count,
                   .out_type = out_type},
                  [=] { return real<MPI_Allgather>(in, in_count, in_type, out, out_count, out_type, comm); });
}

[[gnu::noinline]] int allgatherv_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                           const int* out_counts, const int* out_displs,
                                           MPI_Datatype out_type, MPI_Comm comm) {
  return blocking({.what = collective::allgatherv,
                   .comm = comm,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_type = out_type,
                   .out_counts = out_counts,
                   .out_displs = out_displs},
                  [=] {
                    return real<MPI_Allgatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type,
                                                comm);
                  });
}

[[gnu::noinline]] int alltoall_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                         int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  return blocking({.what = collective::alltoall,
                   .comm = comm,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_count = out_count,
                   .out_type = out_type},
                  [=] { return real<MPI_Alltoall>(in, in_count, in_type, out, out_count, out_type, comm); });
}

[[gnu::noinline]] int alltoallv_otherwise(const void* in, const int* in_counts, const int* in_displs,
                                          MPI_Datatype in_type, void* out, const int* out_counts,
                                          const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  return blocking({.what = collective::alltoallv,
                   .comm = comm,
                   .in = in,
                   .in_type = in_type,
                   .in_counts = in_counts,
                   .in_displs = in_displs,
                   .out = out,
                   .out_type = out_type,
                   .out_counts = out_counts,
                   .out_displs = out_displs},
                  [=] {
                    return real<MPI_Alltoallv>(in, in_counts, in_displs, in_type, out, out_counts, out_displs,
                                               out_type, comm);
                  });
}

[[gnu::noinline]] int alltoallw_otherwise(const void* in, const int* in_counts, const int* in_displs,
                                          const MPI_Datatype* in_types, void* out, const int* out_counts,
                                          const int* out_displs, const MPI_Datatype* out_types,
                                          MPI_Comm comm) {
  return blocking({.what = collective::alltoallw,
                   .comm = comm,
                   .in = in,
                   .in_counts = in_counts,
                   .in_displs = in_displs,
                   .in_types = in_types,
                   .out = out,
                   .out_counts = out_counts,
                   .out_displs = out_displs,
                   .out_types = out_types},
                  [=] {
                    return real<MPI_Alltoallw>(in, in_counts, in_displs, in_types, out, out_counts,
                                               out_displs, out_types, comm);
                  });
}

[[gnu::noinline]] int reduce_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                       int root, MPI_Comm comm) {
  return blocking({.what = collective::reduce,
                   .comm = comm,
                   .root = root,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [=] { return real<MPI_Reduce>(in, out, count, type, op, root, comm); });
}

[[gnu::noinline]] int allreduce_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                          MPI_Comm comm) {
  return blocking({.what = collective::allreduce,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [=] { return real<MPI_Allreduce>(in, out, count, type, op, comm); });
}

[[gnu::noinline]] int reduce_scatter_otherwise(const void* in, void* out, const int* counts,
                                               MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return blocking({.what = collective::reduce_scatter,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_type = type,
                   .out_counts = counts},
                  [=] { return real<MPI_Reduce_scatter>(in, out, counts, type, op, comm); });
}

[[gnu::noinline]] int reduce_scatter_block_otherwise(const void* in, void* out, int count, MPI_Datatype type,
                                                     MPI_Op op, MPI_Comm comm) {
  return blocking({.what = collective::reduce_scatter_block,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [=] { return real<MPI_Reduce_scatter_block>(in, out, count, type, op, comm); });
}

[[gnu::noinline]] int scan_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm) {
  return blocking({.what = collective::scan,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [=] { return real<MPI_Scan>(in, out, count, type, op, comm); });
}

[[gnu::noinline]] int exscan_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                       MPI_Comm comm) {
  return blocking({.what = collective::exscan,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [=] { return real<MPI_Exscan>(in, out, count, type, op, comm); });
}

}  // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  if (passes(collective::barrier, comm)) [[likely]]
    return real<MPI_Barrier>(comm);
  return barrier_otherwise(comm);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (passes(collective::bcast, comm, count, type)) [[likely]]
    return real<MPI_Bcast>(buffer, count, type, root, comm);
  return bcast_otherwise(buffer, count, type, root, comm);
}

int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
               MPI_Datatype out_type, int root, MPI_Comm comm) {
  if (passes_rooted(collective::gather, comm, root, out_count, out_type, in_count, in_type)) [[likely]]
    return real<MPI_Gather>(in, in_count, in_type, out, out_count, out_type, root, comm);
  return gather_otherwise(in, in_count, in_type, out, out_count, out_type, root, comm);
}

int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                const int* out_displs, MPI_Datatype out_type, int root, MPI_Comm comm) {
  if (passes(collective::gatherv, comm)) [[likely]]
    return real<MPI_Gatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type, root, comm);
  return gatherv_otherwise(in, in_count, in_type, out, out_counts, out_displs, out_type, root, comm);
}

int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm) {
  if (passes_rooted(collective::scatter, comm, root, in_count, in_type, out_count, out_type)) [[likely]]
    return real<MPI_Scatter>(in, in_count, in_type, out, out_count, out_type, root, comm);
  return scatter_otherwise(in, in_count, in_type, out, out_count, out_type, root, comm);
}

int MPI_Scatterv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                 int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  if (passes(collective::scatterv, comm)) [[likely]]
    return real<MPI_Scatterv>(in, in_counts, in_displs, in_type, out, out_count, out_type, root, comm);
  return scatterv_otherwise(in, in_counts, in_displs, in_type, out, out_count, out_type, root, comm);
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm) {
  if (passes(collective::allgather, comm, out_count, out_type)) [[likely]]
    return real<MPI_Allgather>(in, in_count, in_type, out, out_count, out_type, comm);
  return allgather_otherwise(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                   const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  if (passes(collective::allgatherv, comm)) [[likely]]
    return real<MPI_Allgatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type, comm);
  return allgatherv_otherwise(in, in_count, in_type, out, out_counts, out_displs, out_type, comm);
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm) {
  if (passes(collective::alltoall, comm, out_count, out_type)) [[likely]]
    return real<MPI_Alltoall>(in, in_count, in_type, out, out_count, out_type, comm);
  return alltoall_otherwise(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                  const int* out_counts, const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  if (passes(collective::alltoallv, comm)) [[likely]]
    return real<MPI_Alltoallv>(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type,
                               comm);
  return alltoallv_otherwise(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type, comm);
}

int MPI_Alltoallw(const void* in, const int* in_counts, const int* in_displs, const MPI_Datatype* in_types,
                  void* out, const int* out_counts, const int* out_displs, const MPI_Datatype* out_types,
                  MPI_Comm comm) {
  if (passes(collective::alltoallw, comm)) [[likely]]
    return real<MPI_Alltoallw>(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types,
                               comm);
  return alltoallw_otherwise(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types,
                             comm);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  if (passes(collective::reduce, comm, count, type, op)) [[likely]]
    return real<MPI_Reduce>(in, out, count, type, op, root, comm);
  return reduce_otherwise(in, out, count, type, op, root, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (passes(collective::allreduce, comm, count, type, op)) [[likely]]
    return real<MPI_Allreduce>(in, out, count, type, op, comm);
  return allreduce_otherwise(in, out, count, type, op, comm);
}

int MPI_Reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  if (passes(collective::reduce_scatter, comm, 0, type, op)) [[likely]]
    return real<MPI_Reduce_scatter>(in, out, counts, type, op, comm);
  return reduce_scatter_otherwise(in, out, counts, type, op, comm);
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  if (passes(collective::reduce_scatter_block, comm, count, type, op)) [[likely]]
    return real<MPI_Reduce_scatter_block>(in, out, count, type, op, comm);
  return reduce_scatter_block_otherwise(in, out, count, type, op, comm);
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (passes(collective::scan, comm, count, type, op)) [[likely]]
    return real<MPI_Scan>(in, out, count, type, op, comm);
  return scan_otherwise(in, out, count, type, op, comm);
}

int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (passes(collective::exscan, comm, count, type, op)) [[likely]]
    return real<MPI_Exscan>(in, out, count, type, op, comm);
  return exscan_otherwise(in, out, count, type, op, comm);
}
}
