// SPDX-License-Identifier: Apache-2.0
//
// MPI's nonblocking collectives, which a program calls in place of MPI's own.
#include "frontends/preload/mpi_collectives.hpp"

namespace {

using namespace tutti::preload;

// Out of line, so that a call that goes to MPI at once pays for its test only.
template <auto Function, class Call, class... Args>
[[gnu::noinline]] int serve_or_forward(MPI_Request* request, Args... args) {
  return nonblocking(Call::translate(args...), request, [=] { return real<Function>(args..., request); });
}

template <auto Function, class Call, class... Args>
[[gnu::always_inline]] inline int enter_collective(MPI_Request* request, Args... args) {
  if (Call::goes_to_mpi(args...)) [[likely]]
    return real<Function>(args..., request);
  return serve_or_forward<Function, Call>(request, args...);
}

}  // namespace

extern "C" {

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ibarrier, barrier_call>(request, comm);
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ibcast, bcast_call>(request, buffer, count, type, root, comm);
}

int MPI_Igather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Igather, gather_call>(request, in, in_count, in_type, out, out_count, out_type,
                                                    root, comm);
}

int MPI_Igatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                 const int* out_displs, MPI_Datatype out_type, int root, MPI_Comm comm,
                 MPI_Request* request) {
  return enter_collective<MPI_Igatherv, gatherv_call>(request, in, in_count, in_type, out, out_counts,
                                                      out_displs, out_type, root, comm);
}

int MPI_Iscatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                 MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Iscatter, scatter_call>(request, in, in_count, in_type, out, out_count,
                                                      out_type, root, comm);
}

int MPI_Iscatterv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type, void* out,
                  int out_count, MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Iscatterv, scatterv_call>(request, in, in_counts, in_displs, in_type, out,
                                                        out_count, out_type, root, comm);
}

int MPI_Iallgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Iallgather, allgather_call>(request, in, in_count, in_type, out, out_count,
                                                          out_type, comm);
}

int MPI_Iallgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                    const int* out_displs, MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Iallgatherv, allgatherv_call>(request, in, in_count, in_type, out, out_counts,
                                                            out_displs, out_type, comm);
}

int MPI_Ialltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                  MPI_Datatype out_type, MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ialltoall, alltoall_call>(request, in, in_count, in_type, out, out_count,
                                                        out_type, comm);
}

int MPI_Ialltoallv(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type,
                   void* out, const int* out_counts, const int* out_displs, MPI_Datatype out_type,
                   MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ialltoallv, alltoallv_call>(request, in, in_counts, in_displs, in_type, out,
                                                          out_counts, out_displs, out_type, comm);
}

int MPI_Ialltoallw(const void* in, const int* in_counts, const int* in_displs, const MPI_Datatype* in_types,
                   void* out, const int* out_counts, const int* out_displs, const MPI_Datatype* out_types,
                   MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ialltoallw, alltoallw_call>(request, in, in_counts, in_displs, in_types, out,
                                                          out_counts, out_displs, out_types, comm);
}

int MPI_Ireduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  return enter_collective<MPI_Ireduce, reduce_call>(request, in, out, count, type, op, root, comm);
}

int MPI_Iallreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return enter_collective<MPI_Iallreduce, allreduce_call>(request, in, out, count, type, op, comm);
}

int MPI_Ireduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ireduce_scatter, reduce_scatter_call>(request, in, out, counts, type, op, comm);
}

int MPI_Ireduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  return enter_collective<MPI_Ireduce_scatter_block, reduce_scatter_block_call>(request, in, out, count, type,
                                                                                op, comm);
}

int MPI_Iscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  return enter_collective<MPI_Iscan, scan_call>(request, in, out, count, type, op, comm);
}

int MPI_Iexscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  return enter_collective<MPI_Iexscan, exscan_call>(request, in, out, count, type, op, comm);
}
}
