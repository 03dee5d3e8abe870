// SPDX-License-Identifier: Apache-2.0
//
// MPI's blocking collectives, in place of MPI's own. Each is told to be left to MPI, or says what its
// arguments are. Longer than a screen: there is one for each collective.
#include "preload/entry.hpp"

namespace {

using namespace tutti;
using namespace tutti::preload;

}  // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::barrier, comm, 0, MPI_DATATYPE_NULL, key_of(false))) [[likely]]
    return own<MPI_Barrier>(comm);
  return blocking(*p, {.what = collective::barrier, .comm = comm}, [&] { return own<MPI_Barrier>(comm); });
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::bcast, comm, count, type, key_of(false))) [[likely]]
    return own<MPI_Bcast>(buffer, count, type, root, comm);
  return blocking(*p,
                  {.what = collective::bcast,
                   .comm = comm,
                   .root = root,
                   .out = buffer,
                   .out_count = count,
                   .out_type = type},
                  [&] { return own<MPI_Bcast>(buffer, count, type, root, comm); });
}

int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
               MPI_Datatype out_type, int root, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes_rooted(p, collective::gather, comm, root, out_count, out_type, in_count, in_type)) [[likely]]
    return own<MPI_Gather>(in, in_count, in_type, out, out_count, out_type, root, comm);
  return blocking(
      *p,
      {.what = collective::gather,
       .comm = comm,
       .root = root,
       .in = in,
       .in_count = in_count,
       .in_type = in_type,
       .out = out,
       .out_count = out_count,
       .out_type = out_type},
      [&] { return own<MPI_Gather>(in, in_count, in_type, out, out_count, out_type, root, comm); });
}

int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                const int* out_displs, MPI_Datatype out_type, int root, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::gatherv, comm, 0, MPI_BYTE, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Gatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type, root, comm);
  return blocking(*p,
                  {.what = collective::gatherv,
                   .comm = comm,
                   .root = root,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_type = out_type,
                   .out_counts = out_counts,
                   .out_displs = out_displs},
                  [&] {
                    return own<MPI_Gatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type,
                                            root, comm);
                  });
}

int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes_rooted(p, collective::scatter, comm, root, in_count, in_type, out_count, out_type)) [[likely]]
    return own<MPI_Scatter>(in, in_count, in_type, out, out_count, out_type, root, comm);
  return blocking(
      *p,
      {.what = collective::scatter,
       .comm = comm,
       .root = root,
       .in = in,
       .in_count = in_count,
       .in_type = in_type,
       .out = out,
       .out_count = out_count,
       .out_type = out_type},
      [&] { return own<MPI_Scatter>(in, in_count, in_type, out, out_count, out_type, root, comm); });
}

int MPI_Scatterv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                 int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::scatterv, comm, 0, MPI_BYTE, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Scatterv>(in, in_counts, in_displs, in_type, out, out_count, out_type, root, comm);
  return blocking(*p,
                  {.what = collective::scatterv,
                   .comm = comm,
                   .root = root,
                   .in = in,
                   .in_type = in_type,
                   .in_counts = in_counts,
                   .in_displs = in_displs,
                   .out = out,
                   .out_count = out_count,
                   .out_type = out_type},
                  [&] {
                    return own<MPI_Scatterv>(in, in_counts, in_displs, in_type, out, out_count, out_type,
                                             root, comm);
                  });
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::allgather, comm, out_count, out_type, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Allgather>(in, in_count, in_type, out, out_count, out_type, comm);
  return blocking(*p,
                  {.what = collective::allgather,
                   .comm = comm,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_count = out_count,
                   .out_type = out_type},
                  [&] { return own<MPI_Allgather>(in, in_count, in_type, out, out_count, out_type, comm); });
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                   const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::allgatherv, comm, 0, MPI_BYTE, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Allgatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type, comm);
  return blocking(*p,
                  {.what = collective::allgatherv,
                   .comm = comm,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_type = out_type,
                   .out_counts = out_counts,
                   .out_displs = out_displs},
                  [&] {
                    return own<MPI_Allgatherv>(in, in_count, in_type, out, out_counts, out_displs, out_type,
                                               comm);
                  });
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::alltoall, comm, out_count, out_type, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Alltoall>(in, in_count, in_type, out, out_count, out_type, comm);
  return blocking(*p,
                  {.what = collective::alltoall,
                   .comm = comm,
                   .in = in,
                   .in_count = in_count,
                   .in_type = in_type,
                   .out = out,
                   .out_count = out_count,
                   .out_type = out_type},
                  [&] { return own<MPI_Alltoall>(in, in_count, in_type, out, out_count, out_type, comm); });
}

int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                  const int* out_counts, const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::alltoallv, comm, 0, MPI_BYTE, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Alltoallv>(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type, comm);
  return blocking(*p,
                  {.what = collective::alltoallv,
                   .comm = comm,
                   .in = in,
                   .in_type = in_type,
                   .in_counts = in_counts,
                   .in_displs = in_displs,
                   .out = out,
                   .out_type = out_type,
                   .out_counts = out_counts,
                   .out_displs = out_displs},
                  [&] {
                    return own<MPI_Alltoallv>(in, in_counts, in_displs, in_type, out, out_counts, out_displs,
                                              out_type, comm);
                  });
}

int MPI_Alltoallw(const void* in, const int* in_counts, const int* in_displs, const MPI_Datatype* in_types,
                  void* out, const int* out_counts, const int* out_displs, const MPI_Datatype* out_types,
                  MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::alltoallw, comm, 0, MPI_BYTE, key_of(in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Alltoallw>(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types,
                              comm);
  return blocking(*p,
                  {.what = collective::alltoallw,
                   .comm = comm,
                   .in = in,
                   .in_counts = in_counts,
                   .in_displs = in_displs,
                   .in_types = in_types,
                   .out = out,
                   .out_counts = out_counts,
                   .out_displs = out_displs,
                   .out_types = out_types},
                  [&] {
                    return own<MPI_Alltoallw>(in, in_counts, in_displs, in_types, out, out_counts, out_displs,
                                              out_types, comm);
                  });
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::reduce, comm, count, type, key_of(op, false))) [[likely]]
    return own<MPI_Reduce>(in, out, count, type, op, root, comm);
  return blocking(*p,
                  {.what = collective::reduce,
                   .comm = comm,
                   .root = root,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [&] { return own<MPI_Reduce>(in, out, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::allreduce, comm, count, type, key_of(op, in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Allreduce>(in, out, count, type, op, comm);
  return blocking(*p,
                  {.what = collective::allreduce,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [&] { return own<MPI_Allreduce>(in, out, count, type, op, comm); });
}

int MPI_Reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::reduce_scatter, comm, 0, type, key_of(op, in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Reduce_scatter>(in, out, counts, type, op, comm);
  return blocking(*p,
                  {.what = collective::reduce_scatter,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_type = type,
                   .out_counts = counts},
                  [&] { return own<MPI_Reduce_scatter>(in, out, counts, type, op, comm); });
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::reduce_scatter_block, comm, count, type, key_of(op, in == MPI_IN_PLACE)))
      [[likely]]
    return own<MPI_Reduce_scatter_block>(in, out, count, type, op, comm);
  return blocking(*p,
                  {.what = collective::reduce_scatter_block,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [&] { return own<MPI_Reduce_scatter_block>(in, out, count, type, op, comm); });
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::scan, comm, count, type, key_of(op, in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Scan>(in, out, count, type, op, comm);
  return blocking(*p,
                  {.what = collective::scan,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [&] { return own<MPI_Scan>(in, out, count, type, op, comm); });
}

int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (passes(p, collective::exscan, comm, count, type, key_of(op, in == MPI_IN_PLACE))) [[likely]]
    return own<MPI_Exscan>(in, out, count, type, op, comm);
  return blocking(*p,
                  {.what = collective::exscan,
                   .comm = comm,
                   .op = op,
                   .in = in,
                   .out = out,
                   .out_count = count,
                   .out_type = type},
                  [&] { return own<MPI_Exscan>(in, out, count, type, op, comm); });
}
}
