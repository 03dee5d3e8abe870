// SPDX-License-Identifier: Apache-2.0
//
// Chooses the built-in trees of an MPI job, once at its start: by its nodes, and by the speed of
// the network between them. Also decides whether the network is so slow that ranks may share cores.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/rank_info.hpp"

namespace tutti::mpi {

// The values of rank 0 count, so that all ranks have the same trees. Nodes of TUTTI_NODES have no
// network that could be measured.
void mpi_endpoint::choose_trees(const std::vector<rank_info>& all, int nodes) {
  auto speed = static_cast<network_speed>(all.front().network);
  const bool prefers_native = all.front().prefers_native != 0;
  const bool is_simulated = all.front().text_length != 0;
  if (speed == network_speed::unknown && nodes > 1 && !prefers_native && !is_simulated) {
    const double us = measure_network(all) * 1e6;
    speed = network_speed_of(us);
    int ranks_per_core = 1;
    for (const rank_info& p : all) ranks_per_core = std::max(ranks_per_core, p.ranks_per_core);
    if (is_network_bound(us, ranks_per_core)) state(conditions_, "oversubscribed", false);
  }
#if defined(MPICH_VERSION)
  constexpr bool over_mpich = true;
#else
  constexpr bool over_mpich = false;
#endif
  trees_ = trees_of_job(nodes, speed, prefers_native, over_mpich);
}

// Rank 0 exchanges messages of 8 bytes with the first rank of another node. The shortest of a few
// exchanges counts, since other processes may disturb some. Returns the seconds of one message, the
// same on all ranks.
double mpi_endpoint::measure_network(const std::vector<rank_info>& all) {
  constexpr int warm_up = 3, exchanges = 20, tag = 0;
  const auto other = std::find_if(all.begin(), all.end(),
                                  [&](const rank_info& p) { return p.leader != all.front().leader; });
  const auto partner = static_cast<int>(other - all.begin());
  double shortest = 1;
  if (rank_ == 0 || rank_ == partner) {
    const int peer = rank_ == 0 ? partner : 0;
    std::int64_t word = 0;
    for (int i = 0; i < warm_up + exchanges; ++i) {
      const double start = MPI_Wtime();
      if (rank_ == 0) check(MPI_Send(&word, 1, MPI_INT64_T, peer, tag, job_), "run", rank_);
      check(MPI_Recv(&word, 1, MPI_INT64_T, peer, tag, job_, MPI_STATUS_IGNORE), "run", rank_);
      if (rank_ != 0) check(MPI_Send(&word, 1, MPI_INT64_T, peer, tag, job_), "run", rank_);
      if (i >= warm_up) shortest = std::min(shortest, (MPI_Wtime() - start) / 2);
    }
  }
  // The other ranks sleep until then, because they may share the cores of these two.
  MPI_Request end;
  check(MPI_Ibcast(&shortest, 1, MPI_DOUBLE, 0, job_, &end), "run", rank_);
  for (int is_done = 0;;) {
    check(MPI_Test(&end, &is_done, MPI_STATUS_IGNORE), "run", rank_);
    if (is_done != 0) return shortest;
    if (rank_ != 0 && rank_ != partner) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace tutti::mpi
