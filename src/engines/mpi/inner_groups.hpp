// SPDX-License-Identifier: Apache-2.0
//
// The groups inside of a node, as its ranks agree on them (bound_groups.hpp). They become levels of
// the topology.
#pragma once

#include <sched.h>

#include "engines/mpi/mpi_base.hpp"

namespace tutti::mpi {

/// The first rank of the job in the smallest group of a rank, and in the group that contains it. If
/// the node has one level of groups, both are the same. If it has none, both are its first rank.
struct inner_groups {
  int fine, coarse;
};

/// Collective over `node`. `leader`: its first rank; this and `rank` are ranks of the job. `bound`:
/// the CPUs that this rank may use. If one rank is not `enabled`, the node has no groups.
inner_groups find_inner_groups(MPI_Comm node, int leader, int rank, const cpu_set_t& bound, bool enabled);

}  // namespace tutti::mpi
