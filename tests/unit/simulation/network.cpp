// SPDX-License-Identifier: Apache-2.0
//
// Tests routes: their links are connected, those of both directions differ, and few messages share
// a link where the topology has room.
#include "simulation/network.hpp"

#include <set>

#include <gtest/gtest.h>

#include "machines.hpp"

namespace tutti::simulation {
namespace {

std::vector<std::string> names_of(const network& n, int from, int to) {
  route r;
  n.find(from, to, r);
  std::vector<std::string> names;
  for (std::uint32_t h = 0; h < r.hops; ++h) names.push_back(n.name_of_link(r.links[h]));
  return names;
}

using name_list = std::vector<std::string>;

TEST(network, flat) {
  const machine m = machine_named("flat");
  const network n(m, 100);
  EXPECT_EQ(names_of(n, 3, 70), (name_list{"node 3 up", "node 70 down"}));
  EXPECT_EQ(names_of(n, 5, 5), name_list{});
  route r;
  n.find(3, 70, r);
  EXPECT_DOUBLE_EQ(r.latency, 1e-6);
}

TEST(network, fat_tree) {
  const machine m = machine_named("fat-tree");
  const network n(m, 64);
  EXPECT_EQ(names_of(n, 0, 7), (name_list{"node 0 up", "node 7 down"}));
  // The destination determines the port: 13 mod 4.
  EXPECT_EQ(names_of(n, 0, 13), (name_list{"node 0 up", "switch 0 of level 1 up, port 1",
                                           "switch 1 of level 1 down, port 1", "node 13 down"}));
  route r;
  n.find(0, 13, r);
  EXPECT_DOUBLE_EQ(r.latency, 2e-6);
}

TEST(network, a_fat_tree_of_three_levels_has_room_for_every_shift) {
  // As many links upwards as downwards: nodes that all send to the node at the same distance never
  // share a link upwards.
  machine m = machine_named("flat");
  m.levels = {{4, 1, {}}, {4, 4, {}}, {0, 4, {}}};
  for (fat_tree_level& l : m.levels) l.link = {1e-6, 1e9};
  const network n(m, 64);
  for (const int shift : {1, 4, 5, 16, 21, 32, 63}) {
    std::multiset<std::uint32_t> used;
    std::set<std::uint32_t> ups;
    for (int from = 0; from < 64; ++from) {
      route r;
      n.find(from, (from + shift) % 64, r);
      ASSERT_EQ(r.hops % 2, 0u);
      for (std::uint32_t h = 0; h < r.hops; ++h) used.insert(r.links[h]);
    }
    for (const std::uint32_t l : used)
      EXPECT_EQ(used.count(l), 1u) << n.name_of_link(l) << ", shift " << shift;
  }
}

TEST(network, dragonfly) {
  const machine m = machine_named("dragonfly");
  const network n(m, 4096);
  // Ranks 0..3 are on node 0, nodes 0..3 at router 0, routers 0..7 in group 0.
  EXPECT_EQ(names_of(n, 0, 4), (name_list{"node 0 up", "node 1 down"}));
  EXPECT_EQ(names_of(n, 0, 16), (name_list{"node 0 up", "group 0, router 0 to router 1", "node 4 down"}));
  // Group 2 is the second of the others: its link is at router 1. On the other side group 0 is the
  // first one: router 0.
  EXPECT_EQ(names_of(n, 0, 2 * 128 + 16),
            (name_list{"node 0 up", "group 0, router 0 to router 1", "group 0 to group 2",
                       "group 2, router 0 to router 1", "node 68 down"}));
}

TEST(network, selection_sees_the_nodes_of_the_topology) {
  for (const char* name : {"flat", "eight-per-node", "two-sockets", "slow-cluster-64", "laptop"})
    for (const int ranks : {1, 2, 7, 8, 9, 16, 32, 33, 64, 96, 100, 128}) {
      const machine m = machine_named(name);
      if (m.max_nodes() == 1 && ranks > m.ranks_per_node) continue;
      const network n(m, ranks);
      const simulated_call c = call_of(collective::allreduce, 64);
      const selection_context made = context_of(c, n.topology()), quick = context_of(c, n);
      EXPECT_EQ(quick.nodes, made.nodes) << name << ", " << ranks;
      EXPECT_EQ(quick.ranks_per_node, made.ranks_per_node) << name << ", " << ranks;
      EXPECT_EQ(quick.node_consecutive, made.node_consecutive) << name << ", " << ranks;
      EXPECT_EQ(quick.call, made.call);
    }
}

TEST(network, tree) {
  machine m = machine_named("flat");
  m.network = machine::topology::tree;
  m.node_link = {1e-6, 1e9};
  m.switches = {{"core", -1, {}, 0}, {"a", 0, {2e-6, 1e9}, 3}, {"b", 0, {4e-6, 1e9}, 5}};
  const network n(m, 8);
  EXPECT_EQ(names_of(n, 0, 2), (name_list{"node 0 up", "node 2 down"}));
  EXPECT_EQ(names_of(n, 2, 3), (name_list{"node 2 up", "switch a up", "switch b down", "node 3 down"}));
  route r;
  n.find(2, 3, r);
  EXPECT_DOUBLE_EQ(r.latency, 8e-6);
  EXPECT_THROW(network(m, 9), std::invalid_argument);
}

}  // namespace
}  // namespace tutti::simulation
