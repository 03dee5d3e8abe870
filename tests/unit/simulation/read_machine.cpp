// SPDX-License-Identifier: Apache-2.0
//
// Tests the reader of machine files: the machines that the library has, and wrong ones with the
// fault that is reported of them.
#include "simulation/read_machine.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "simulation/network.hpp"
#include "support/contained_text.hpp"
#include "support/scratch_folder.hpp"
#include "support/tree_cases.hpp"

namespace tutti::simulation {
namespace {

TEST(read_machine, every_machine_of_the_library_is_right) {
  ASSERT_GE(builtin_machine_names().size(), 4u);
  for (const std::string_view name : builtin_machine_names()) {
    const machine_result r = read_machine(builtin_machine(name), name);
    for (const fault& f : r.faults) ADD_FAILURE() << f.text();
    EXPECT_FALSE(r.made.about.empty()) << name;
    const int ranks = r.made.max_nodes() == 1 ? r.made.ranks_per_node : 4 * r.made.ranks_per_node;
    EXPECT_EQ(network(r.made, ranks).ranks(), ranks) << name;
  }
  EXPECT_TRUE(builtin_machine("no such machine").empty());
}

TEST(read_machine, units) {
  const machine_result r = read_machine(R"({
    "schema": "tutti/machine/1",
    "node": {"ranks": 4, "sockets": 2, "memory": {"latency": "100 ns", "bandwidth": "2GiB/s", "total": "1TB/s"},
             "between_sockets": {"latency": "0.001ms", "bandwidth": "800Mbit/s"}, "copy": "3MB/s", "reduce": "4e3kB/s"},
    "links": {"nic": {"latency": "1.5us", "bandwidth": "100Gbit/s"}},
    "network": {"topology": "flat", "link": "nic",
                "messages": {"eager_limit": "12KiB", "envelope": "16B", "handshake": "0.00001s", "bandwidth": "5GB/s"}}})",
                                        "units");
  for (const fault& f : r.faults) ADD_FAILURE() << f.text();
  const machine& m = r.made;
  EXPECT_DOUBLE_EQ(m.within_socket.latency, 1e-7);
  EXPECT_DOUBLE_EQ(m.within_socket.bandwidth, 2147483648.0);
  EXPECT_DOUBLE_EQ(m.within_socket.total, 1e12);
  EXPECT_DOUBLE_EQ(m.between_sockets.latency, 1e-6);
  EXPECT_DOUBLE_EQ(m.between_sockets.bandwidth, 1e8);
  EXPECT_EQ(m.between_sockets.total, unlimited);
  EXPECT_DOUBLE_EQ(m.copy_speed, 3e6);
  EXPECT_DOUBLE_EQ(m.reduce_speed, 4e6);
  EXPECT_DOUBLE_EQ(m.levels.at(0).link.latency, 1.5e-6);
  EXPECT_DOUBLE_EQ(m.levels.at(0).link.bandwidth, 12.5e9);
  EXPECT_EQ(m.between_nodes.eager_limit, 12288u);
  EXPECT_EQ(m.between_nodes.envelope, 16u);
  EXPECT_DOUBLE_EQ(m.between_nodes.handshake, 1e-5);
  EXPECT_DOUBLE_EQ(m.between_nodes.message_bandwidth, 5e9);
}

TEST(read_machine, wrong_ones_are_reported_with_their_place) {
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MACHINES_OF_TESTS)) {
    if (entry.path().extension() != ".cases") continue;
    for (const tests::tree_case& one : tests::tree_cases(tests::contents(entry.path()))) {
      ++cases;
      std::string reported;
      for (const fault& f : read_machine(one.text, one.name + ".json").faults) reported += f.text() + "\n";
      EXPECT_EQ(reported, one.faults) << one.name;
    }
  }
  EXPECT_GE(cases, 20u);
}

TEST(read_machine, survives_long_and_binary_texts) {
  EXPECT_EQ(read_machine(std::string(3 << 20, ' '), "long").faults.size(), 1u);
  EXPECT_EQ(read_machine(std::string_view("{\n\0}", 4), "zero").faults.at(0).line, 2);
  EXPECT_FALSE(read_machine(std::string(100000, '['), "deep").good());
}

}  // namespace
}  // namespace tutti::simulation
