// SPDX-License-Identifier: Apache-2.0
//
// MPI's blocking collectives, which a program calls in place of MPI's own.
#include "frontends/preload/mpi_collectives.hpp"

namespace {

using namespace tutti::preload;

// Out of line, so that a call that goes to MPI at once pays for its test only.
template <auto Function, class Call, class... Args>
[[gnu::noinline]] int serve_or_forward(Args... args) {
  return blocking(Call::translate(args...), [=] { return real<Function>(args...); });
}

template <auto Function, class Call, class... Args>
[[gnu::always_inline]] inline int enter_collective(Args... args) {
  if (Call::goes_to_mpi(args...)) [[likely]]
    return real<Function>(args...);
  return serve_or_forward<Function, Call>(args...);
}

}  // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) { return enter_collective<MPI_Barrier, barrier_call>(comm); }

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return enter_collective<MPI_Bcast, bcast_call>(buffer, count, type, root, comm);
}

int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
               MPI_Datatype out_type, int root, MPI_Comm comm) {
  return enter_collective<MPI_Gather, gather_call>(in, in_count, in_type, out, out_count, out_type, root,
                                                   comm);
}

int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                const int* out_displs, MPI_Datatype out_type, int root, MPI_Comm comm) {
  return enter_collective<MPI_Gatherv, gatherv_call>(in, in_count, in_type, out, out_counts, out_displs,
                                                     out_type, root, comm);
}

int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm) {
  return enter_collective<MPI_Scatter, scatter_call>(in, in_count, in_type, out, out_count, out_type, root,
                                                     comm);
}

int MPI_Scatterv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                 int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  return enter_collective<MPI_Scatterv, scatterv_call>(in, in_counts, in_displs, in_type, out, out_count,
                                                       out_type, root, comm);
}

int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm) {
  return enter_collective<MPI_Allgather, allgather_call>(in, in_count, in_type, out, out_count, out_type,
                                                         comm);
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                   const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  return enter_collective<MPI_Allgatherv, allgatherv_call>(in, in_count, in_type, out, out_counts, out_displs,
                                                           out_type, comm);
}

int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, MPI_Comm comm) {
  return enter_collective<MPI_Alltoall, alltoall_call>(in, in_count, in_type, out, out_count, out_type, comm);
}

int MPI_Alltoallv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                  const int* out_counts, const int* out_displs, MPI_Datatype out_type, MPI_Comm comm) {
  return enter_collective<MPI_Alltoallv, alltoallv_call>(in, in_counts, in_displs, in_type, out, out_counts,
                                                         out_displs, out_type, comm);
}

int MPI_Alltoallw(const void* in, const int* in_counts, const int* in_displs, const MPI_Datatype* in_types,
                  void* out, const int* out_counts, const int* out_displs, const MPI_Datatype* out_types,
                  MPI_Comm comm) {
  return enter_collective<MPI_Alltoallw, alltoallw_call>(in, in_counts, in_displs, in_types, out, out_counts,
                                                         out_displs, out_types, comm);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return enter_collective<MPI_Reduce, reduce_call>(in, out, count, type, op, root, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return enter_collective<MPI_Allreduce, allreduce_call>(in, out, count, type, op, comm);
}

int MPI_Reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  return enter_collective<MPI_Reduce_scatter, reduce_scatter_call>(in, out, counts, type, op, comm);
}

int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  return enter_collective<MPI_Reduce_scatter_block, reduce_scatter_block_call>(in, out, count, type, op,
                                                                               comm);
}

int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return enter_collective<MPI_Scan, scan_call>(in, out, count, type, op, comm);
}

int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return enter_collective<MPI_Exscan, exscan_call>(in, out, count, type, op, comm);
}
}
