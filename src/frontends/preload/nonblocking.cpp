// SPDX-License-Identifier: Apache-2.0
//
// MPI's nonblocking collectives. Each entry point forwards to MPI or describes its arguments for
// tutti. Longer than a screen: there is one for each collective.
#include "frontends/preload/entry.hpp"

namespace {
using namespace tutti;
using namespace tutti::preload;

[[gnu::noinline]] int ibarrier_otherwise(MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::barrier, .comm = comm}, request,
                     [=] { return real<MPI_Ibarrier>(comm, request); });
}

[[gnu::noinline]] int ibcast_otherwise(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                                       MPI_Request* request) {
  return nonblocking({.what = collective::bcast,
                      .comm = comm,
                      .root = root,
                      .out = buffer,
                      .out_count = count,
                      .out_type = type},
                     request, [=] { return real<MPI_Ibcast>(buffer, count, type, root, comm, request); });
}

[[gnu::noinline]] int igather_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                        int out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
                                        MPI_Request* request) {
  return nonblocking({.what = collective::gather,
                      .comm = comm,
                      .root = root,
                      .in = in,
                      .in_count = in_count,
                      .in_type = in_type,
                      .out = out,
                      .out_count = out_count,
                      .out_type = out_type},
                     request, [=] {
                       return real<MPI_Igather>(in, in_count, in_type, out, out_count, out_type, root, comm,
                                                request);
                     });
}

[[gnu::noinline]] int igatherv_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                         const int* out_counts, const int* out_displs, MPI_Datatype out_type,
                                         int root, MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::gatherv,
                      .comm = comm,
                      .root = root,
                      .in = in,
                      .in_count = in_count,
                      .in_type = in_type,
                      .out = out,
                      .out_type = out_type,
                      .out_counts = out_counts,
                      .out_displs = out_displs},
                     request, [=] {
                       return real<MPI_Igatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type,
                                                 root, comm, request);
                     });
}

[[gnu::noinline]] int iscatter_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                         int out_count, MPI_Datatype out_type, int root, MPI_Comm comm,
                                         MPI_Request* request) {
  return nonblocking({.what = collective::scatter,
                      .comm = comm,
                      .root = root,
                      .in = in,
                      .in_count = in_count,
                      .in_type = in_type,
                      .out = out,
                      .out_count = out_count,
                      .out_type = out_type},
                     request, [=] {
                       return real<MPI_Iscatter>(in, in_count, in_type, out, out_count, out_type, root, comm,
                                                 request);
                     });
}

[[gnu::noinline]] int iscatterv_otherwise(const void* in, const int* in_counts, const int* in_displs,
                                          MPI_Datatype in_type, void* out, int out_count,
                                          MPI_Datatype out_type, int root, MPI_Comm comm,
                                          MPI_Request* request) {
  return nonblocking({.what = collective::scatterv,
                      .comm = comm,
                      .root = root,
                      .in = in,
                      .in_type = in_type,
                      .in_counts = in_counts,
                      .in_displs = in_displs,
                      .out = out,
                      .out_count = out_count,
                      .out_type = out_type},
                     request, [=] {
                       return real<MPI_Iscatterv>(in, in_counts, in_displs, in_type, out, out_count, out_type,
                                                  root, comm, request);
                     });
}

[[gnu::noinline]] int iallgather_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                           int out_count, MPI_Datatype out_type, MPI_Comm comm,
                                           MPI_Request* request) {
  return nonblocking(
      {.what = collective::allgather,
       .comm = comm,
       .in = in,
       .in_count = in_count,
       .in_type = in_type,
       .out = out,
       .out_count = out_count,
       .out_type = out_type},
      request,
      [=] { return real<MPI_Iallgather>(in, in_count, in_type, out, out_count, out_type, comm, request); });
}

[[gnu::noinline]] int iallgatherv_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                            const int* out_counts, const int* out_displs,
                                            MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::allgatherv,
                      .comm = comm,
                      .in = in,
                      .in_count = in_count,
                      .in_type = in_type,
                      .out = out,
                      .out_type = out_type,
                      .out_counts = out_counts,
                      .out_displs = out_displs},
                     request, [=] {
                       return real<MPI_Iallgatherv>(in, in_count, in_type, out, out_counts, out_displs,
                                                    out_type, comm, request);
                     });
}

[[gnu::noinline]] int ialltoall_otherwise(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                          int out_count, MPI_Datatype out_type, MPI_Comm comm,
                                          MPI_Request* request) {
  return nonblocking(
      {.what = collective::alltoall,
       .comm = comm,
       .in = in,
       .in_count = in_count,
       .in_type = in_type,
       .out = out,
       .out_count = out_count,
       .out_type = out_type},
      request,
      [=] { return real<MPI_Ialltoall>(in, in_count, in_type, out, out_count, out_type, comm, request); });
}

[[gnu::noinline]] int ialltoallv_otherwise(const void* in, const int* in_counts, const int* in_displs,
                                           MPI_Datatype in_type, void* out, const int* out_counts,
                                           const int* out_displs, MPI_Datatype out_type, MPI_Comm comm,
                                           MPI_Request* request) {
  return nonblocking({.what = collective::alltoallv,
                      .comm = comm,
                      .in = in,
                      .in_type = in_type,
                      .in_counts = in_counts,
                      .in_displs = in_displs,
                      .out = out,
                      .out_type = out_type,
                      .out_counts = out_counts,
                      .out_displs = out_displs},
                     request, [=] {
                       return real<MPI_Ialltoallv>(in, in_counts, in_displs, in_type, out, out_counts,
                                                   out_displs, out_type, comm, request);
                     });
}

[[gnu::noinline]] int ialltoallw_otherwise(const void* in, const int* in_counts, const int* in_displs,
                                           const MPI_Datatype* in_types, void* out, const int* out_counts,
                                           const int* out_displs, const MPI_Datatype* out_types,
                                           MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::alltoallw,
                      .comm = comm,
                      .in = in,
                      .in_counts = in_counts,
                      .in_displs = in_displs,
                      .in_types = in_types,
                      .out = out,
                      .out_counts = out_counts,
                      .out_displs = out_displs,
                      .out_types = out_types},
                     request, [=] {
                       return real<MPI_Ialltoallw>(in, in_counts, in_displs, in_types, out, out_counts,
                                                   out_displs, out_types, comm, request);
                     });
}

[[gnu::noinline]] int ireduce_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                        int root, MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::reduce,
                      .comm = comm,
                      .root = root,
                      .op = op,
                      .in = in,
                      .out = out,
                      .out_count = count,
                      .out_type = type},
                     request,
                     [=] { return real<MPI_Ireduce>(in, out, count, type, op, root, comm, request); });
}

[[gnu::noinline]] int iallreduce_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                           MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::allreduce,
                      .comm = comm,
                      .op = op,
                      .in = in,
                      .out = out,
                      .out_count = count,
                      .out_type = type},
                     request, [=] { return real<MPI_Iallreduce>(in, out, count, type, op, comm, request); });
}

[[gnu::noinline]] int ireduce_scatter_otherwise(const void* in, void* out, const int* counts,
                                                MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                                MPI_Request* request) {
  return nonblocking({.what = collective::reduce_scatter,
                      .comm = comm,
                      .op = op,
                      .in = in,
                      .out = out,
                      .out_type = type,
                      .out_counts = counts},
                     request,
                     [=] { return real<MPI_Ireduce_scatter>(in, out, counts, type, op, comm, request); });
}

[[gnu::noinline]] int ireduce_scatter_block_otherwise(const void* in, void* out, int count, MPI_Datatype type,
                                                      MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(
      {.what = collective::reduce_scatter_block,
       .comm = comm,
       .op = op,
       .in = in,
       .out = out,
       .out_count = count,
       .out_type = type},
      request, [=] { return real<MPI_Ireduce_scatter_block>(in, out, count, type, op, comm, request); });
}

[[gnu::noinline]] int iscan_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::scan,
                      .comm = comm,
                      .op = op,
                      .in = in,
                      .out = out,
                      .out_count = count,
                      .out_type = type},
                     request, [=] { return real<MPI_Iscan>(in, out, count, type, op, comm, request); });
}

[[gnu::noinline]] int iexscan_otherwise(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm, MPI_Request* request) {
  return nonblocking({.what = collective::exscan,
                      .comm = comm,
                      .op = op,
                      .in = in,
                      .out = out,
                      .out_count = count,
                      .out_type = type},
                     request, [=] { return real<MPI_Iexscan>(in, out, count, type, op, comm, request); });
}

}  // namespace

extern "C" {

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::barrier, comm)) [[likely]]
    return real<MPI_Ibarrier>(comm, request);
  return ibarrier_otherwise(comm, request);
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::bcast, comm, count, type)) [[likely]]
    return real<MPI_Ibcast>(buffer, count, type, root, comm, request);
  return ibcast_otherwise(buffer, count, type, root, comm, request);
}

int MPI_Igather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  if (passes_rooted(collective::gather, comm, root, out_count, out_type, in_count, in_type)) [[likely]]
    return real<MPI_Igather>(in, in_count, in_type, out, out_count, out_type, root, comm, request);
  return igather_otherwise(in, in_count, in_type, out, out_count, out_type, root, comm, request);
}

int MPI_Igatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                 const int* out_displs, MPI_Datatype out_type, int root, MPI_Comm comm,
                 MPI_Request* request) {
  if (passes(collective::gatherv, comm)) [[likely]]
    return real<MPI_Igatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type, root, comm,
                              request);
  return igatherv_otherwise(in, in_count, in_type, out, out_counts, out_displs, out_type, root, comm,
                            request);
}

int MPI_Iscatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  if (passes_rooted(collective::scatter, comm, root, in_count, in_type, out_count, out_type)) [[likely]]
    return real<MPI_Iscatter>(in, in_count, in_type, out, out_count, out_type, root, comm, request);
  return iscatter_otherwise(in, in_count, in_type, out, out_count, out_type, root, comm, request);
}

int MPI_Iscatterv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                  int out_count, MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::scatterv, comm)) [[likely]]
    return real<MPI_Iscatterv>(in, in_counts, in_displs, in_type, out, out_count, out_type, root, comm,
                               request);
  return iscatterv_otherwise(in, in_counts, in_displs, in_type, out, out_count, out_type, root, comm,
                             request);
}

int MPI_Iallgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::allgather, comm, out_count, out_type)) [[likely]]
    return real<MPI_Iallgather>(in, in_count, in_type, out, out_count, out_type, comm, request);
  return iallgather_otherwise(in, in_count, in_type, out, out_count, out_type, comm, request);
}

int MPI_Iallgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                    const int* out_displs, MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::allgatherv, comm)) [[likely]]
    return real<MPI_Iallgatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type, comm, request);
  return iallgatherv_otherwise(in, in_count, in_type, out, out_counts, out_displs, out_type, comm, request);
}

int MPI_Ialltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::alltoall, comm, out_count, out_type)) [[likely]]
    return real<MPI_Ialltoall>(in, in_count, in_type, out, out_count, out_type, comm, request);
  return ialltoall_otherwise(in, in_count, in_type, out, out_count, out_type, comm, request);
}

int MPI_Ialltoallv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type,
                   void* out, const int* out_counts, const int* out_displs, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::alltoallv, comm)) [[likely]]
    return real<MPI_Ialltoallv>(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type,
                                comm, request);
  return ialltoallv_otherwise(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type, comm,
                              request);
}

int MPI_Ialltoallw(const void* in, const int* in_counts, const int* in_displs, const MPI_Datatype* in_types,
                   void* out, const int* out_counts, const int* out_displs, const MPI_Datatype* out_types,
                   MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::alltoallw, comm)) [[likely]]
    return real<MPI_Ialltoallw>(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types,
                                comm, request);
  return ialltoallw_otherwise(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types,
                              comm, request);
}

int MPI_Ireduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  if (passes(collective::reduce, comm, count, type, op)) [[likely]]
    return real<MPI_Ireduce>(in, out, count, type, op, root, comm, request);
  return ireduce_otherwise(in, out, count, type, op, root, comm, request);
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  if (passes(collective::allreduce, comm, count, type, op)) [[likely]]
    return real<MPI_Iallreduce>(in, out, count, type, op, comm, request);
  return iallreduce_otherwise(in, out, count, type, op, comm, request);
}

int MPI_Ireduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::reduce_scatter, comm, 0, type, op)) [[likely]]
    return real<MPI_Ireduce_scatter>(in, out, counts, type, op, comm, request);
  return ireduce_scatter_otherwise(in, out, counts, type, op, comm, request);
}

int MPI_Ireduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  if (passes(collective::reduce_scatter_block, comm, count, type, op)) [[likely]]
    return real<MPI_Ireduce_scatter_block>(in, out, count, type, op, comm, request);
  return ireduce_scatter_block_otherwise(in, out, count, type, op, comm, request);
}

int MPI_Iscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  if (passes(collective::scan, comm, count, type, op)) [[likely]]
    return real<MPI_Iscan>(in, out, count, type, op, comm, request);
  return iscan_otherwise(in, out, count, type, op, comm, request);
}

int MPI_Iexscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  if (passes(collective::exscan, comm, count, type, op)) [[likely]]
    return real<MPI_Iexscan>(in, out, count, type, op, comm, request);
  return iexscan_otherwise(in, out, count, type, op, comm, request);
}
}
