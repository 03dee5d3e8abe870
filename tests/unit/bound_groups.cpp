// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks by the caches and sockets that they are bound to, on machines that hwloc makes
// up.
#include "engines/mpi/bound_groups.hpp"

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using tutti::mpi::group_by_caches_and_sockets;
using levels = std::vector<std::vector<int>>;

constexpr const char* two_sockets = "pack:2 l3:2 core:4 pu:1";  // a cache for each 4 of 16 CPUs

struct cpus {
  int first, last;
};

levels groups(const char* machine, const std::vector<cpus>& bound) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw std::runtime_error("hwloc_topology_init");
  const std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, decltype(&hwloc_topology_destroy)> owner(
      topology, hwloc_topology_destroy);
  if (hwloc_topology_set_synthetic(topology, machine) != 0 || hwloc_topology_load(topology) != 0)
    throw std::runtime_error(std::string("hwloc rejects ") + machine);
  std::vector<cpu_set_t> sets(bound.size());
  for (std::size_t r = 0; r < bound.size(); ++r) {
    CPU_ZERO(&sets[r]);
    for (int cpu = bound[r].first; cpu <= bound[r].last; ++cpu) CPU_SET(cpu, &sets[r]);
  }
  return group_by_caches_and_sockets(topology, sets);
}

std::vector<cpus> one_core_each(int ranks) {
  std::vector<cpus> all;
  for (int r = 0; r < ranks; ++r) all.push_back({r, r});
  return all;
}

TEST(bound_groups, caches_lie_inside_of_sockets) {
  EXPECT_EQ(groups(two_sockets, one_core_each(16)),
            (levels{{0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12},
                    {0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8}}));
}

TEST(bound_groups, ranks_may_be_bound_to_several_cores) {
  EXPECT_EQ(groups(two_sockets, {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}),
            (levels{{0, 0, 2, 2, 4, 4, 6, 6}, {0, 0, 0, 0, 4, 4, 4, 4}}));
  EXPECT_EQ(groups(two_sockets, {{0, 7}, {0, 7}, {8, 15}, {8, 15}}), (levels{{0, 0, 2, 2}}))
      << "bound to sockets";
  EXPECT_EQ(groups("pack:2 core:2 pu:2", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}), (levels{{0, 0, 2, 2}}))
      << "bound to cores of two threads";
}

TEST(bound_groups, a_level_has_two_groups_of_two_ranks) {
  EXPECT_EQ(groups(two_sockets, {{0, 3}, {4, 7}, {8, 11}, {12, 15}}), (levels{{0, 0, 2, 2}}))
      << "a rank for each cache";
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {4, 4}, {5, 5}}), (levels{{0, 0, 2, 2}})) << "one socket";
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {2, 2}, {8, 8}}), levels{}) << "three and one";
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {8, 8}, {9, 9}, {12, 12}}),
            (levels{{0, 0, 2, 2, 4}, {0, 0, 2, 2, 2}}))
      << "two, two and one";
  EXPECT_EQ(groups(two_sockets, one_core_each(4)), levels{}) << "one cache";
  EXPECT_EQ(groups("pack:1 l3:1 core:2 pu:1", {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), levels{});
}

TEST(bound_groups, one_rank_that_is_not_bound_prevents_a_level) {
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {8, 8}, {0, 15}}), levels{});
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {8, 8}, {9, 9}, {0, -1}}), levels{}) << "no CPUs";
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {8, 8}, {16, 16}}), levels{}) << "not of this machine";
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {1, 1}, {2, 5}, {8, 8}, {9, 9}}), (levels{{0, 0, 0, 3, 3}}))
      << "bound to two caches of a socket";
}

TEST(bound_groups, ranks_may_alternate) {
  EXPECT_EQ(groups(two_sockets, {{0, 0}, {8, 8}, {1, 1}, {9, 9}}), (levels{{0, 1, 0, 1}}));
}

TEST(bound_groups, a_cache_may_serve_several_sockets) {
  EXPECT_EQ(groups("l3:2 pack:2 core:2 pu:1", one_core_each(8)),
            (levels{{0, 0, 2, 2, 4, 4, 6, 6}, {0, 0, 0, 0, 4, 4, 4, 4}}));
}

}  // namespace
