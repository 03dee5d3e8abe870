// SPDX-License-Identifier: Apache-2.0
//
// The conditions of the mpi engine that decision trees may test.
#pragma once

#include "transport/endpoint.hpp"

namespace tutti::detail {

inline constexpr engine_condition mpi_conditions[] = {
    {"open_mpi", "the engine uses Open MPI", false},
    {"mpich", "the engine uses MPICH or an MPI derived from it", false},
    {"cross_memory",
     "ranks that share a node may read one another's memory, so long native collectives may go by address", false},
    {"node_memory", "all ranks of the job are on one node, and native collectives use its memory", false},
    {"oversubscribed", "a machine of the job has more ranks than cores that they may use", false},
};

}  // namespace tutti::detail
