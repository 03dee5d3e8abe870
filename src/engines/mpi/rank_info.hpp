// SPDX-License-Identifier: Apache-2.0
//
// What each rank of a job reports to all ranks at the start (discover_topology.cpp).
#pragma once

namespace tutti::mpi {

struct rank_info {
  int leader;           // the first rank that it shares memory with
  int fine, coarse;     // the first rank of its groups inside of the node (inner_groups.hpp)
  int ranks_per_core;   // of its machine, rounded up; oversubscribed above 1
  int text_length;      // of its TUTTI_NODES
  int polls_natives;    // 1: it must begin and poll its blocking collectives
  int use_of_memory;    // the memory_use of its TUTTI_SHM
  int several_threads;  // 1: MPI_THREAD_MULTIPLE
  int may_copy;         // 1: the ranks of its node may copy from each other, or it is alone there
  int network;          // the network_speed of its TUTTI_NETWORK
  int prefers_native;   // 1: TUTTI_PREFER is native
  int error_length;     // length of the error that it found in its settings; 0: none
};

}  // namespace tutti::mpi
