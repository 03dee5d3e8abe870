// SPDX-License-Identifier: Apache-2.0
//
// Tests simulations against formulas, against figures of SimGrid, and against the proof, which
// counts the messages and bytes of every algorithm by another way.
#include "simulation/simulator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <numeric>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "machines.hpp"
#include "proof/abstract_run.hpp"
#include "proof/cases.hpp"

namespace tutti::simulation {
namespace {

TEST(simulator, one_message) {
  machine m = plain_machine();
  // Overhead, latency, 80 bytes, overhead of the receiver.
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 80), 2 + 1 + 8 + 3, 1e-9);
  // Rendezvous: the handshake before the message, another overhead after it.
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 8000), 2 + 4 + 1 + 800 + 0.25, 1e-9);
  m.between_nodes.envelope = 20;
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 80), 2 + 1 + 10 + 3, 1e-9);
  m.between_nodes.message_bandwidth = 5e6;
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 80), 2 + 1 + 20 + 3, 1e-9);
}

TEST(simulator, the_eager_limit_is_the_first_length_with_rendezvous) {
  const machine m = plain_machine();
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 992), 2 + 1 + 99.2 + 3, 1e-9);
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 1000), 2 + 4 + 1 + 100 + 0.25, 1e-9);
}

TEST(simulator, the_sender_of_an_eager_message_does_not_wait) {
  const machine m = plain_machine();
  simulator s(m, 2);
  const choice linear = read_choice(collective::bcast, "bcast/linear");
  const simulation_result eager = s.run(call_of(collective::bcast, 80), linear);
  EXPECT_NEAR(eager.ends[0], 2e-6, 1e-15);
  EXPECT_NEAR(eager.waits[0], 0, 1e-15);
  EXPECT_NEAR(eager.waits[1], 11e-6, 1e-15);  // all but the overhead of its receive
  const simulation_result rendezvous = s.run(call_of(collective::bcast, 8000), linear);
  EXPECT_NEAR(rendezvous.ends[0], 807e-6, 1e-12);
  EXPECT_NEAR(rendezvous.waits[0], 805e-6, 1e-12);
}

TEST(simulator, local_work_takes_its_time) {
  machine m = plain_machine();
  const double without = microseconds(m, 2, "reduce/linear", 80);
  m.reduce_speed = 20e6;
  EXPECT_NEAR(microseconds(m, 2, "reduce/linear", 80), without + 4, 1e-9);
  pure_algorithm copies;
  copies.what = collective::allgather;
  copies.write = [](const shape& one, builder& b) {
    b.copy(block(buffer::input, 0), block(buffer::output, one.rank));
  };
  EXPECT_EQ(simulator(m, 1).run(call_of(collective::allgather, 80), choice(&copies)).seconds, 0);
  m.copy_speed = 40e6;
  EXPECT_NEAR(simulator(m, 1).run(call_of(collective::allgather, 80), choice(&copies)).seconds, 2e-6, 1e-15);
}

TEST(simulator, a_chain_of_messages) {
  // p - 1 messages, one after another.
  const machine m = plain_machine();
  for (const int p : {2, 3, 7, 20})
    EXPECT_NEAR(microseconds(m, p, "bcast/chain:segment=1K", 80), (p - 1) * (2 + 1 + 8 + 3), 1e-6) << p;
}

TEST(simulator, ring) {
  // 2 (p - 1) rounds; each rank sends a block and receives one.
  const machine m = plain_machine();
  for (const int p : {2, 4, 8, 32})
    EXPECT_NEAR(microseconds(m, p, "allreduce/ring", static_cast<std::size_t>(p) * 80),
                2 * (p - 1) * (2 + 1 + 8 + 3), 1e-6)
        << p;
}

TEST(simulator, messages_to_one_receiver_share_its_link_and_its_core) {
  machine m = plain_machine();
  m.between_nodes.handshake = 0;
  // 4 messages of 8000 bytes cross one link; they arrive together.
  EXPECT_NEAR(microseconds(m, 5, "gather/linear", 8000), 2 + 1 + 4 * 800 + 4 * 0.25, 1e-6);
  // Short ones are processed one after another.
  EXPECT_NEAR(microseconds(m, 5, "gather/linear", 80), 2 + 1 + 4 * 8 + 4 * 3, 1e-6);
}

TEST(simulator, figures_of_simgrid) {
  // SimGrid 3.32 over SMPI, 64 hosts of a flat network, in microseconds.
  const machine m = machine_named("flat");
  const struct {
    const char* algorithm;
    std::size_t bytes;
    double expected, tolerance;
  } cells[] = {
      {"allreduce/recursive_doubling", 8, 9.612, 0.001},
      {"allreduce/recursive_doubling", 1048576, 511.124, 0.001},
      {"allreduce/rabenseifner", 1048576, 181.966, 0.001},
      {"bcast/circulant", 1048576, 137, 0.5},
      {"allreduce/ring", 1048576, 367, 0.5},
      {"allreduce/reduce_scatter_allgather:k=16", 1048576, 171, 0.5},
      {"alltoall/bruck:k=4", 8, 6.6, 0.05},
      {"scatter/linear", 1048576, 5288, 1},
      {"reduce/circulant:blocks=64", 16777216, 1537, 1},
  };
  for (const auto& c : cells)
    EXPECT_NEAR(microseconds(m, 64, c.algorithm, c.bytes), c.expected, c.tolerance) << c.algorithm;
}

TEST(simulator, ranks_of_a_node_use_its_memory_and_share_its_network) {
  machine m = plain_machine();
  m.ranks_per_node = 2;
  m.within_socket = {0.25e-6, 100e6, unlimited};
  m.within_node.send_overhead = m.within_node.receive_overhead = 0;
  EXPECT_NEAR(microseconds(m, 2, "bcast/linear", 800), 0.25 + 8, 1e-9);
  // Both ranks of the first node exchange with those of the second one.
  m.between_nodes = {};
  m.between_nodes.eager_limit = 1 << 20;
  EXPECT_NEAR(microseconds(m, 4, "allreduce/recursive_doubling", 800), 0.25 + 8 + 1 + 160, 1e-9);
  // Shared memory: each rank sends at half of the bandwidth.
  m.within_socket.total = 100e6;
  EXPECT_NEAR(microseconds(m, 2, "allreduce/recursive_doubling", 800), 0.25 + 16, 1e-9);
}

TEST(simulator, sockets) {
  machine m;
  m.ranks_per_node = 4;
  m.sockets = 2;
  m.within_socket = {1e-6, 100e6, unlimited};
  m.between_sockets = {3e-6, 50e6, 60e6};
  // Round 1 within the sockets, round 2 between them: four messages share 60 MB/s.
  EXPECT_NEAR(microseconds(m, 4, "allreduce/recursive_doubling", 600), 1 + 6 + 3 + 40, 1e-9);
  simulator s(m, 4);
  EXPECT_EQ(s.links().topology().nodes(), 2);
  EXPECT_EQ(s.links().topology().ranks_per_node(), 2);
}

TEST(simulator, a_fat_tree_shares_its_uplinks) {
  // Two switches with two nodes each and one link upwards: it carries two messages at a time.
  machine m = plain_machine();
  m.between_nodes = {};
  m.levels = {{2, 1, {0, 10e6}}, {0, 1, {0, 10e6}}};
  EXPECT_NEAR(microseconds(m, 4, "allreduce/recursive_doubling", 800), 80 + 160, 1e-9);
  m.levels[1].parents = 2;  // d-mod-k gives each message a link of its own
  EXPECT_NEAR(microseconds(m, 4, "allreduce/recursive_doubling", 800), 80 + 80, 1e-9);
}

// Every algorithm has as many messages and bytes as the proof counts, and ends.
TEST(simulator, messages_and_bytes_of_every_algorithm) {
  const machine m = machine_named("eight-per-node");
  for (const pure_algorithm* a : catalogue())
    for (const int p : {1, 2, 5, 8, 12}) {
      proof::case_options w;
      w.what = a->what;
      w.ranks = p;
      w.count = 24;
      w.blocks = proof::blocks_are::even;
      w.in_place = has_restriction(a->restrictions, restriction::in_place);
      w.first_group = has_restriction(a->restrictions, restriction::inter) ? p / 2 : 0;
      w.parameter_values = a->default_values();
      if (!proof::serves(*a, p)) continue;
      if (has_restriction(a->restrictions, restriction::equal_regions) &&
          p % static_cast<int>(w.parameter_values[static_cast<std::size_t>(algorithm_parameter::region)]) !=
              0)
        continue;
      const auto call = proof::make_abstract_call(w);
      const auto proved = proof::run_abstract(call, proof::write_all(a->write, call), {.symbols = false});
      ASSERT_TRUE(proved.ok()) << a->name;
      simulated_call c = call_of(a->what, w.count * 8);
      c.in_place = w.in_place;
      c.first_group = w.first_group;
      const simulation_result r = simulator(m, p).run(c, choice(a), {.max_recorded = 100000});
      EXPECT_EQ(r.messages, proved.measured.messages) << a->name << " of " << p;
      EXPECT_EQ(r.bytes,
                std::accumulate(proved.measured.sent.begin(), proved.measured.sent.end(), std::uint64_t{0}))
          << a->name << " of " << p;
      EXPECT_TRUE(std::isfinite(r.seconds)) << a->name;
      EXPECT_EQ(r.messages > 0, r.seconds > 0) << a->name << " of " << p;
    }
}

TEST(simulator, rejects_what_the_machine_or_the_memory_cannot_hold) {
  EXPECT_THROW(simulator(machine_named("laptop"), 17), std::invalid_argument);
  EXPECT_THROW(simulator(machine_named("flat"), 0), std::invalid_argument);
  EXPECT_THROW(simulator(machine_named("flat"), max_ranks + 1), std::invalid_argument);
  simulator s(machine_named("flat"), 4096);
  const simulated_call c = call_of(collective::alltoall, 8);
  const choice scattered = read_choice(collective::alltoall, "alltoall/pairwise");
  try {
    s.run(c, scattered, {.max_memory = 1e6});
    FAIL() << "not rejected";
  } catch (const std::length_error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("4096 ranks needs about"), text.npos) << text;
    EXPECT_NE(text.find("1 MB are available"), text.npos) << text;
  }
  EXPECT_THROW(s.run(c, choice()), not_simulated);  // native
}

// The limits that docs/guide/scale.md states. The process has other simulations in its memory.
TEST(simulator, many_ranks) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const int ranks = 1024;
#else
  const int ranks = 4096;
#endif
  for (const char* machine : {"flat", "fat-tree", "fast-cluster-8", "dragonfly"})
    for (const char* name : {"allreduce/rabenseifner", "alltoall/bruck", "scan/recursive_doubling"}) {
      const collective what = collective_of(name);
      const std::clock_t begin = std::clock();
      const auto r = simulator(machine_named(machine), ranks)
                         .run(call_of(what, 1024), read_choice(what, name), {.max_recorded = 4'000'000});
      EXPECT_TRUE(r.recorded) << name;
      EXPECT_LE(static_cast<double>(std::clock() - begin), 10.0 * CLOCKS_PER_SEC)
          << name << " on " << machine;
    }
  const auto r = simulator(machine_named("fat-tree"), 16 * ranks)
                     .run(call_of(collective::allreduce, 8),
                          read_choice(collective::allreduce, "allreduce/recursive_doubling"));
  EXPECT_EQ(r.messages, static_cast<std::uint64_t>(16 * ranks) * std::bit_width(16u * ranks - 1));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(used.ru_maxrss, 1 << 20);  // KiB
#endif
}

// A schedule with puts: two blocks to the next rank, and a signal.
void write_puts(const shape& s, builder& b) {
  const int next = (s.rank + 1) % s.size, before = (s.rank + s.size - 1) % s.size;
  b.put(next, block(buffer::input, 0), block(buffer::output, 0));
  b.put(next, block(buffer::input, 0), block(buffer::output, 1));
  b.signal(next);
  b.await_signal(before);
}

TEST(simulator, puts_and_signals) {
  pure_algorithm a;
  a.name = "allgather/puts";
  a.what = collective::allgather;
  a.write = write_puts;
  machine m = plain_machine();
  m.between_nodes.receive_overhead = 0;
  m.between_nodes.send_overhead = 0;
  const simulation_result r = simulator(m, 4).run(call_of(collective::allgather, 80), choice(&a));
  EXPECT_EQ(r.messages, 4u * 5u);  // two headers, two blocks, the signal
  EXPECT_NEAR(r.seconds * 1e6, 1 + (2 * 80 + 3 * 16) / 10.0, 1e-9);
}

TEST(simulator, reports_ranks_that_wait_for_one_another) {
  pure_algorithm a;
  a.name = "barrier/stuck";
  a.what = collective::barrier;
  a.write = [](const shape& s, builder& b) { b.recv(1 - s.rank, whole(buffer::scratch0)); };
  EXPECT_THROW(simulator(machine_named("flat"), 2).run(call_of(collective::barrier, 0), choice(&a)),
               not_simulated);
}

}  // namespace
}  // namespace tutti::simulation
