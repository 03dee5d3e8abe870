// SPDX-License-Identifier: Apache-2.0
//
// The first rank of the node reads the machine, because that takes some 10 ms. It does so only if
// all ranks are bound.
#include "engines/mpi/inner_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#ifdef TUTTI_HWLOC
#include "engines/mpi/bound_groups.hpp"
#endif

namespace tutti::mpi {

#ifdef TUTTI_HWLOC
namespace {

struct bound_rank {
  int rank;  // of the job
  cpu_set_t cpus;
};

bool are_bound(const std::vector<cpu_set_t>& cpus) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const cpu_set_t& one : cpus) CPU_OR(&all, &all, &one);
  return std::none_of(cpus.begin(), cpus.end(),
                      [&](const cpu_set_t& one) { return CPU_COUNT(&one) == 0 || CPU_EQUAL(&one, &all); });
}

// Ranks may have cgroups of their own, so the machine includes the CPUs that this rank may not use.
std::vector<groups_of_ranks> groups_of_machine(const std::vector<cpu_set_t>& cpus) {
  hwloc_topology_t machine = nullptr;
  if (hwloc_topology_init(&machine) != 0) return {};
  const std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, decltype(&hwloc_topology_destroy)> owner(
      machine, hwloc_topology_destroy);
  hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(machine, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(machine, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(machine) != 0) return {};
  return group_by_caches_and_sockets(machine, cpus);
}

}  // namespace

inner_groups find_inner_groups(MPI_Comm node, int leader, int rank, const cpu_set_t& bound, bool enabled) {
  int ranks = 1;
  check(MPI_Comm_size(node, &ranks), "run", rank);
  if (ranks < 4) return {leader, leader};  // two groups of two ranks
  bound_rank mine{rank, bound};
  if (!enabled) CPU_ZERO(&mine.cpus);
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<bound_rank> all(rank == leader ? p : 0);
  check(MPI_Gather(&mine, static_cast<int>(sizeof mine), MPI_BYTE, all.data(), static_cast<int>(sizeof mine),
                   MPI_BYTE, 0, node),
        "run", rank);
  std::vector<inner_groups> found(all.size(), {leader, leader});
  if (rank == leader) {
    std::vector<cpu_set_t> cpus;
    for (const bound_rank& one : all) cpus.push_back(one.cpus);
    const std::vector<groups_of_ranks> levels =
        are_bound(cpus) ? groups_of_machine(cpus) : std::vector<groups_of_ranks>();
    for (std::size_t r = 0; r < p && !levels.empty(); ++r)
      found[r] = {all[static_cast<std::size_t>(levels.front()[r])].rank,
                  all[static_cast<std::size_t>(levels.back()[r])].rank};
  }
  inner_groups result{leader, leader};
  check(MPI_Scatter(found.data(), 2, MPI_INT, &result, 2, MPI_INT, 0, node), "run", rank);
  return result;
}
#else
inner_groups find_inner_groups(MPI_Comm, int leader, int, const cpu_set_t&, bool) { return {leader, leader}; }
#endif

}  // namespace tutti::mpi
