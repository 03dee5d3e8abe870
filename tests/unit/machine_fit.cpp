// SPDX-License-Identifier: Apache-2.0
//
// Fits machines to times that the simulator computes for a known machine. The fit must recover its
// parameters: without noise within 2 %, with noise of 2 % within 25 %. Also tests that the file of
// a fitted machine can be read, and that a pattern moves the messages that it claims.
#include "tuning/machine_fit.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "simulation/read_machine.hpp"

namespace tutti::tuning {
namespace {

using simulation::machine;
using simulation::unlimited;

// The times of a machine, each multiplied by its own factor of exp(noise * a normal deviate).
machine_measurements measure(const machine& m, const job_shape& job, double noise = 0) {
  std::mt19937 random(7);
  std::normal_distribution<double> deviate;
  const auto disturbed = [&](double seconds) { return seconds * std::exp(noise * deviate(random)); };
  simulation::simulator simulator(m, job.ranks);
  machine_measurements all;
  all.job = job;
  const auto path = [&](const simulation::protocol& p) {
    path_measurements made;
    made.eager_limit = p.eager_limit;
    for (const int messages : {1, 2, 4, 6})  // and the constant time of entering and leaving
      made.bursts.push_back({messages, disturbed(30e-9 + messages * p.send_overhead),
                             disturbed(40e-9 + messages * p.receive_overhead)});
    return made;
  };
  if (job.ranks_per_node > 1) all.within_node = path(m.within_node);
  if (job.nodes() > 1) all.between_nodes = path(m.between_nodes);
  for (const pattern& p : patterns_of(job))
    all.patterns.push_back({p, disturbed(simulator.run(call_of(p), choice_of(p, job)).seconds)});
  const pure_algorithm* const knomial = find_algorithm(collective::bcast, "knomial");
  simulation::simulated_call call;
  call.what = collective::bcast;
  call.count = 4096;
  all.collectives.push_back(
      {call.what, "knomial", call, 32768, simulator.run(call, choice(knomial)).seconds});
  return all;
}

machine cluster() {
  machine m;
  m.ranks_per_node = 4;
  m.within_node = {.eager_limit = 4104,
                   .envelope = 0,
                   .send_overhead = 0.12e-6,
                   .receive_overhead = 0.15e-6,
                   .rendezvous_overhead = 0.15e-6,
                   .handshake = 0.4e-6};
  m.within_socket = {0.2e-6, 8e9, 14e9};
  m.between_sockets = m.within_socket;
  m.network = machine::topology::fat_tree;
  m.levels.assign(1, {});
  m.levels[0].link = {0.6e-6, 12e9};
  m.between_nodes = {.eager_limit = 16384,
                     .envelope = 0,
                     .send_overhead = 0.3e-6,
                     .receive_overhead = 0.25e-6,
                     .rendezvous_overhead = 0.25e-6,
                     .handshake = 2e-6,
                     .message_bandwidth = 5e9};
  m.copy_speed = 10e9;
  m.reduce_speed = 6e9;
  return m;
}

void expect_near(double found, double right, double tolerance, const char* what) {
  EXPECT_NEAR(found / right, 1, tolerance) << what << " is " << found << " in place of " << right;
}

void expect_protocol(const simulation::protocol& found, const simulation::protocol& right, double tolerance) {
  EXPECT_EQ(found.eager_limit, right.eager_limit);
  expect_near(found.send_overhead, right.send_overhead, tolerance, "send overhead");
  expect_near(found.receive_overhead, right.receive_overhead, tolerance, "receive overhead");
  expect_near(found.handshake, right.handshake, tolerance, "handshake");
}

void expect_machine(const machine& found, const machine& right, double tolerance) {
  expect_protocol(found.within_node, right.within_node, tolerance);
  expect_near(found.within_socket.latency, right.within_socket.latency, tolerance, "latency of memory");
  expect_near(found.within_socket.bandwidth, right.within_socket.bandwidth, tolerance, "bandwidth of memory");
  expect_near(found.within_socket.total, right.within_socket.total, tolerance, "shared bandwidth of memory");
  expect_protocol(found.between_nodes, right.between_nodes, tolerance);
  expect_near(found.levels.at(0).link.latency, right.levels[0].link.latency, tolerance, "latency of a link");
  expect_near(found.levels.at(0).link.bandwidth, right.levels[0].link.bandwidth, tolerance,
              "bandwidth of a link");
  expect_near(found.between_nodes.message_bandwidth, right.between_nodes.message_bandwidth, tolerance,
              "bandwidth of one message");
  expect_near(found.copy_speed, right.copy_speed, tolerance, "speed of copies");
  expect_near(found.reduce_speed, right.reduce_speed, tolerance, "speed of reductions");
}

TEST(machine_fit, recovers_a_cluster) {
  const machine right = cluster();
  const machine_measurements m = measure(right, {16, 4});
  const machine found = fit_machine(m);
  expect_machine(found, right, 0.02);
  const std::vector<residual> all = residuals_of(m, found);
  EXPECT_EQ(all.size(), m.patterns.size() + 1);
  EXPECT_LT(summarize(all, false).max, 0.05);
  EXPECT_LT(summarize(all, true).max, 0.05);
}

TEST(machine_fit, tolerates_noise) {
  expect_machine(fit_machine(measure(cluster(), {8, 4}, 0.02)), cluster(), 0.25);
}

TEST(machine_fit, finds_no_sharing_where_there_is_none) {
  machine right = cluster();
  right.within_socket.total = unlimited;
  right.levels[0].link.bandwidth = 100e9;  // more than four messages of 5 GB/s
  const machine found = fit_machine(measure(right, {8, 4}));
  EXPECT_EQ(found.within_socket.total, unlimited);
  EXPECT_GE(found.levels.at(0).link.bandwidth, 4 * 4.9e9) << "what was measured is possible";
}

TEST(machine_fit, describes_one_node_without_a_network) {
  machine right = cluster();
  right.network = machine::topology::single_node;
  right.levels.clear();
  const machine found = fit_machine(measure(right, {4, 4}));
  EXPECT_EQ(found.network, machine::topology::single_node);
  EXPECT_EQ(found.ranks_per_node, 4);
  expect_near(found.within_socket.total, right.within_socket.total, 0.02, "shared bandwidth of memory");
}

TEST(machine_fit, describes_nodes_of_one_rank) {
  machine right = cluster();
  right.ranks_per_node = 1;
  const machine found = fit_machine(measure(right, {2, 1}));
  EXPECT_EQ(found.ranks_per_node, 1);
  expect_near(found.levels.at(0).link.bandwidth, 5e9, 0.02, "the link shows the bandwidth of its messages");
  EXPECT_EQ(found.between_nodes.message_bandwidth, unlimited);
}

// A machine without costs is no reason to divide by zero.
TEST(machine_fit, finds_no_negative_costs) {
  machine right = cluster();
  right.within_node.handshake = right.within_node.send_overhead = right.within_node.receive_overhead = 0;
  right.within_node.rendezvous_overhead = 0;
  machine_measurements m = measure(right, {4, 4}, 0.1);
  // falls with the messages
  for (burst_time& b : m.within_node.bursts) b.send = 50e-9 / b.messages;
  const machine found = fit_machine(m);
  EXPECT_EQ(found.within_node.send_overhead, 0);
  for (const double cost : {found.within_node.handshake, found.within_node.receive_overhead,
                            found.within_socket.latency, found.within_node.rendezvous_overhead})
    EXPECT_GE(cost, 0);
}

TEST(machine_fit, its_file_gives_the_same_machine) {
  for (const job_shape job : {job_shape{16, 4}, job_shape{4, 4}, job_shape{2, 1}}) {
    machine right = cluster();
    right.ranks_per_node = job.ranks_per_node;
    machine found = fit_machine(measure(right, job, 0.02));
    found.about = "a \"name\"";
    const simulation::machine_result read = simulation::read_machine(machine_text(found), "fitted");
    ASSERT_TRUE(read.good()) << read.faults.front().text() << machine_text(found);
    const machine& again = read.made;
    EXPECT_EQ(again.about, found.about);
    EXPECT_EQ(again.ranks_per_node, found.ranks_per_node);
    EXPECT_EQ(again.network, found.network);
    if (job.ranks_per_node > 1) {
      EXPECT_EQ(again.within_node.eager_limit, found.within_node.eager_limit);
      expect_near(again.within_node.handshake, found.within_node.handshake, 1e-3, "handshake");
      expect_near(again.within_socket.latency, found.within_socket.latency, 1e-3, "latency");
      expect_near(again.within_socket.bandwidth, found.within_socket.bandwidth, 1e-3, "bandwidth");
      expect_near(again.within_socket.total, found.within_socket.total, 1e-3, "total");
    }
    if (job.nodes() > 1) {
      EXPECT_EQ(again.between_nodes.eager_limit, found.between_nodes.eager_limit);
      expect_near(again.between_nodes.send_overhead, found.between_nodes.send_overhead, 1e-3, "overhead");
      expect_near(again.levels.at(0).link.bandwidth, found.levels.at(0).link.bandwidth, 1e-3, "link");
    }
    expect_near(again.copy_speed, found.copy_speed, 1e-3, "copy");
    expect_near(again.reduce_speed, found.reduce_speed, 1e-3, "reduce");
  }
}

// Quantities beyond the units and ranges of a file.
TEST(machine_fit, its_file_is_valid_for_any_values) {
  for (const double extreme : {0.0, 1e-15, 0.99996, 1e4, unlimited}) {
    machine m = cluster();
    m.within_socket.latency = m.within_node.handshake = m.levels[0].link.latency = extreme;
    m.within_socket.bandwidth = m.levels[0].link.bandwidth = m.copy_speed = m.reduce_speed = extreme;
    const simulation::machine_result read = simulation::read_machine(machine_text(m), "fitted");
    EXPECT_TRUE(read.good()) << read.faults.front().text() << machine_text(m);
  }
}

TEST(machine_patterns, send_as_many_messages_as_they_claim) {
  const job_shape job{16, 4};
  const simulation::machine m = cluster();
  simulation::simulator simulator(m, job.ranks);
  int patterns = 0;
  for (const pattern& p : patterns_of(job)) {
    const simulation::simulation_result r = simulator.run(call_of(p), choice_of(p, job));
    const int pairs = p.pairs * (p.all_nodes ? job.nodes() / 2 : 1);
    const int each = p.is_local()                        ? 0
                     : p.what == pattern_kind::ping_pong ? 2
                     : p.what == pattern_kind::exchange  ? 2 * p.messages
                                                         : p.messages + 1;
    EXPECT_EQ(r.messages, static_cast<std::uint64_t>(pairs * each)) << text_of(p);
    EXPECT_EQ(r.bytes, r.messages * p.bytes) << text_of(p);
    int active = 0, first = 0;
    for (int rank = 0; rank < job.ranks; ++rank) {
      const pattern_role role = role_of(p, job, rank);
      active += role.active ? 1 : 0;
      first += role.active && role.first ? 1 : 0;
    }
    if (p.is_local())
      EXPECT_EQ(active, job.ranks);
    else
      EXPECT_TRUE(active == 2 * pairs && first == pairs) << text_of(p);
    ++patterns;
  }
  EXPECT_GT(patterns, 50);
}

}  // namespace
}  // namespace tutti::tuning
