// SPDX-License-Identifier: Apache-2.0
//
// The part that the blocking and the nonblocking entry point of one collective share. A test
// selects the calls that go to MPI at once; a translation handles the arguments of all other calls.
// The functions take the arguments of the blocking function of MPI.
#pragma once

#include "frontends/preload/entry.hpp"

namespace tutti::preload {

struct barrier_call {
  static bool goes_to_mpi(MPI_Comm comm) noexcept { return is_forwarded(collective::barrier, comm); }
  static arguments translate(MPI_Comm comm) noexcept { return {.what = collective::barrier, .comm = comm}; }
};

struct bcast_call {
  static bool goes_to_mpi(void*, int count, MPI_Datatype type, int, MPI_Comm comm) noexcept {
    return is_forwarded(collective::bcast, comm, count, type);
  }
  static arguments translate(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) noexcept {
    return {.what = collective::bcast,
            .comm = comm,
            .root = root,
            .out = buffer,
            .out_count = count,
            .out_type = type};
  }
};

struct gather_call {
  static bool goes_to_mpi(const void*, int in_count, MPI_Datatype in_type, void*, int out_count,
                          MPI_Datatype out_type, int root, MPI_Comm comm) noexcept {
    return is_rooted_call_forwarded(collective::gather, comm, root, out_count, out_type, in_count, in_type);
  }
  static arguments translate(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                             MPI_Datatype out_type, int root, MPI_Comm comm) noexcept {
    return {.what = collective::gather,
            .comm = comm,
            .root = root,
            .in = in,
            .in_count = in_count,
            .in_type = in_type,
            .out = out,
            .out_count = out_count,
            .out_type = out_type};
  }
};

struct gatherv_call {
  static bool goes_to_mpi(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, int,
                          MPI_Comm comm) noexcept {
    return is_forwarded(collective::gatherv, comm);
  }
  static arguments translate(const void* in, int in_count, MPI_Datatype in_type, void* out,
                             const int* out_counts, const int* out_displs, MPI_Datatype out_type, int root,
                             MPI_Comm comm) noexcept {
    return {.what = collective::gatherv,
            .comm = comm,
            .root = root,
            .in = in,
            .in_count = in_count,
            .in_type = in_type,
            .out = out,
            .out_type = out_type,
            .out_counts = out_counts,
            .out_displs = out_displs};
  }
};

struct scatter_call {
  static bool goes_to_mpi(const void*, int in_count, MPI_Datatype in_type, void*, int out_count,
                          MPI_Datatype out_type, int root, MPI_Comm comm) noexcept {
    return is_rooted_call_forwarded(collective::scatter, comm, root, in_count, in_type, out_count, out_type);
  }
  static arguments translate(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                             MPI_Datatype out_type, int root, MPI_Comm comm) noexcept {
    return {.what = collective::scatter,
            .comm = comm,
            .root = root,
            .in = in,
            .in_count = in_count,
            .in_type = in_type,
            .out = out,
            .out_count = out_count,
            .out_type = out_type};
  }
};

struct scatterv_call {
  static bool goes_to_mpi(const void*, const int*, const int*, MPI_Datatype, void*, int, MPI_Datatype, int,
                          MPI_Comm comm) noexcept {
    return is_forwarded(collective::scatterv, comm);
  }
  static arguments translate(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type,
                             void* out, int out_count, MPI_Datatype out_type, int root,
                             MPI_Comm comm) noexcept {
    return {.what = collective::scatterv,
            .comm = comm,
            .root = root,
            .in = in,
            .in_type = in_type,
            .in_counts = in_counts,
            .in_displs = in_displs,
            .out = out,
            .out_count = out_count,
            .out_type = out_type};
  }
};

/// For the collectives in which every rank receives a block of equal length from each rank.
template <collective What>
struct equal_blocks_call {
  static bool goes_to_mpi(const void*, int, MPI_Datatype, void*, int out_count, MPI_Datatype out_type,
                          MPI_Comm comm) noexcept {
    return is_forwarded(What, comm, out_count, out_type);
  }
  static arguments translate(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                             MPI_Datatype out_type, MPI_Comm comm) noexcept {
    return {.what = What,
            .comm = comm,
            .in = in,
            .in_count = in_count,
            .in_type = in_type,
            .out = out,
            .out_count = out_count,
            .out_type = out_type};
  }
};
using allgather_call = equal_blocks_call<collective::allgather>;
using alltoall_call = equal_blocks_call<collective::alltoall>;

struct allgatherv_call {
  static bool goes_to_mpi(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                          MPI_Comm comm) noexcept {
    return is_forwarded(collective::allgatherv, comm);
  }
  static arguments translate(const void* in, int in_count, MPI_Datatype in_type, void* out,
                             const int* out_counts, const int* out_displs, MPI_Datatype out_type,
                             MPI_Comm comm) noexcept {
    return {.what = collective::allgatherv,
            .comm = comm,
            .in = in,
            .in_count = in_count,
            .in_type = in_type,
            .out = out,
            .out_type = out_type,
            .out_counts = out_counts,
            .out_displs = out_displs};
  }
};

struct alltoallv_call {
  static bool goes_to_mpi(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*,
                          MPI_Datatype, MPI_Comm comm) noexcept {
    return is_forwarded(collective::alltoallv, comm);
  }
  static arguments translate(const void* in, const int* in_counts, const int* in_displs, MPI_Datatype in_type,
                             void* out, const int* out_counts, const int* out_displs, MPI_Datatype out_type,
                             MPI_Comm comm) noexcept {
    return {.what = collective::alltoallv,
            .comm = comm,
            .in = in,
            .in_type = in_type,
            .in_counts = in_counts,
            .in_displs = in_displs,
            .out = out,
            .out_type = out_type,
            .out_counts = out_counts,
            .out_displs = out_displs};
  }
};

struct alltoallw_call {
  static bool goes_to_mpi(const void*, const int*, const int*, const MPI_Datatype*, void*, const int*,
                          const int*, const MPI_Datatype*, MPI_Comm comm) noexcept {
    return is_forwarded(collective::alltoallw, comm);
  }
  static arguments translate(const void* in, const int* in_counts, const int* in_displs,
                             const MPI_Datatype* in_types, void* out, const int* out_counts,
                             const int* out_displs, const MPI_Datatype* out_types, MPI_Comm comm) noexcept {
    return {.what = collective::alltoallw,
            .comm = comm,
            .in = in,
            .in_counts = in_counts,
            .in_displs = in_displs,
            .in_types = in_types,
            .out = out,
            .out_counts = out_counts,
            .out_displs = out_displs,
            .out_types = out_types};
  }
};

struct reduce_call {
  static bool goes_to_mpi(const void*, void*, int count, MPI_Datatype type, MPI_Op op, int,
                          MPI_Comm comm) noexcept {
    return is_forwarded(collective::reduce, comm, count, type, op);
  }
  static arguments translate(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                             MPI_Comm comm) noexcept {
    return {.what = collective::reduce,
            .comm = comm,
            .root = root,
            .op = op,
            .in = in,
            .out = out,
            .out_count = count,
            .out_type = type};
  }
};

/// For the collectives that combine a vector without a root.
template <collective What>
struct reduction_call {
  static bool goes_to_mpi(const void*, void*, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) noexcept {
    return is_forwarded(What, comm, count, type, op);
  }
  static arguments translate(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) noexcept {
    return {.what = What, .comm = comm, .op = op, .in = in, .out = out, .out_count = count, .out_type = type};
  }
};
using allreduce_call = reduction_call<collective::allreduce>;
using reduce_scatter_block_call = reduction_call<collective::reduce_scatter_block>;
using scan_call = reduction_call<collective::scan>;
using exscan_call = reduction_call<collective::exscan>;

struct reduce_scatter_call {
  static bool goes_to_mpi(const void*, void*, const int*, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) noexcept {
    return is_forwarded(collective::reduce_scatter, comm, 0, type, op);
  }
  static arguments translate(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) noexcept {
    return {.what = collective::reduce_scatter,
            .comm = comm,
            .op = op,
            .in = in,
            .out = out,
            .out_type = type,
            .out_counts = counts};
  }
};

}  // namespace tutti::preload
