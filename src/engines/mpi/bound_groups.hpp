// SPDX-License-Identifier: Apache-2.0
//
// Groups the ranks of a node by the L3 caches and the sockets that they are bound to. Only if hwloc
// was found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <hwloc.h>
#include <sched.h>

namespace tutti::mpi {

/// For each rank the first rank of its group.
using groups_of_ranks = std::vector<int>;

/// The groups of the ranks by the objects of one type. Empty if they are no level: a rank is not
/// bound within one object, or less than two objects have two ranks or more.
inline groups_of_ranks group_by(hwloc_topology_t machine, hwloc_obj_type_t type,
                                std::span<const cpu_set_t> bound) {
  struct group {
    int first, ranks;
  };
  std::map<hwloc_obj_t, group> groups;
  groups_of_ranks first_of;
  const std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, decltype(&hwloc_bitmap_free)> cpus(
      hwloc_bitmap_alloc(), hwloc_bitmap_free);
  for (std::size_t r = 0; r < bound.size(); ++r) {
    hwloc_bitmap_zero(cpus.get());
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &bound[r])) hwloc_bitmap_set(cpus.get(), cpu);
    const hwloc_obj_t object = hwloc_bitmap_iszero(cpus.get()) ? nullptr
                                                               : hwloc_get_next_obj_covering_cpuset_by_type(
                                                                     machine, cpus.get(), type, nullptr);
    if (object == nullptr) return {};
    group& one = groups.emplace(object, group{static_cast<int>(r), 0}).first->second;
    ++one.ranks;
    first_of.push_back(one.first);
  }
  const auto large =
      std::count_if(groups.begin(), groups.end(), [](const auto& one) { return one.second.ranks >= 2; });
  return large >= 2 ? first_of : groups_of_ranks();
}

/// The levels inside of a node, from the finest to the coarsest: at most one for the L3 caches and
/// one for the sockets. `bound`: the CPUs of each rank, as the system numbers them.
inline std::vector<groups_of_ranks> group_by_caches_and_sockets(hwloc_topology_t machine,
                                                                std::span<const cpu_set_t> bound) {
  std::pair<hwloc_obj_type_t, hwloc_obj_type_t> types{HWLOC_OBJ_L3CACHE, HWLOC_OBJ_PACKAGE};
  // On some machines a cache serves several sockets.
  if (hwloc_get_type_depth(machine, types.first) < hwloc_get_type_depth(machine, types.second))
    std::swap(types.first, types.second);
  std::vector<groups_of_ranks> levels;
  for (const hwloc_obj_type_t type : {types.first, types.second})
    if (groups_of_ranks one = group_by(machine, type, bound);
        !one.empty() && (levels.empty() || levels.back() != one))
      levels.push_back(std::move(one));
  return levels;
}

}  // namespace tutti::mpi
