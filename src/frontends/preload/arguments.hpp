// SPDX-License-Identifier: Apache-2.0
//
// The arguments of any MPI collective, as the program passed them.
#pragma once

#include "frontends/preload/real_mpi.hpp"
#include "tutti/collective.hpp"

namespace tutti::preload {

/// Arguments that a collective does not have keep their defaults. The buffer of a broadcast is
/// `out`.
struct arguments {
  collective what = collective::barrier;
  MPI_Comm comm = MPI_COMM_NULL;
  int root = 0;
  MPI_Op op = MPI_OP_NULL;

  const void* in = nullptr;
  int in_count = 0;
  MPI_Datatype in_type = MPI_DATATYPE_NULL;
  const int *in_counts = nullptr, *in_displs = nullptr;
  const MPI_Datatype* in_types = nullptr;

  void* out = nullptr;
  int out_count = 0;
  MPI_Datatype out_type = MPI_DATATYPE_NULL;
  const int *out_counts = nullptr, *out_displs = nullptr;
  const MPI_Datatype* out_types = nullptr;

  bool in_place() const noexcept { return in == MPI_IN_PLACE; }
};

}  // namespace tutti::preload
