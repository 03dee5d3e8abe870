// SPDX-License-Identifier: Apache-2.0
//
// Tests what a simulation records beside the times: the critical path, the work of the ranks, and
// its progress.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace tutti::simulation {
namespace {

void expect_connected(const simulation_result& r, const std::string& what) {
  const auto path = r.critical_path();
  ASSERT_FALSE(path.empty()) << what;
  EXPECT_NEAR(path.front().begin, 0, 1e-15) << what;
  EXPECT_NEAR(path.back().end, r.seconds, 1e-12) << what;
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_LE(path[i].begin, path[i].end + 1e-15) << what << ", step " << i;
    if (i > 0) {
      EXPECT_NEAR(path[i].begin, path[i - 1].end, 1e-12) << what << ", step " << i;
    }
  }
}

TEST(simulation_record, the_critical_path_has_no_gaps) {
  for (const char* machine : {"flat", "eight-per-node", "dragonfly"})
    for (const char* name : {"allreduce/ring", "allreduce/rabenseifner", "bcast/knomial", "reduce/knomial",
                             "alltoall/scattered", "bcast/chain", "scan/recursive_doubling", "gather/linear"})
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{100'000}}) {
        const collective what = collective_of(name);
        const auto r = simulator(machine_named(machine), 20)
                           .run(call_of(what, bytes), read_choice(what, name), {.max_recorded = 1'000'000});
        expect_connected(r, std::string(name) + " on " + machine);
      }
}

TEST(simulation_record, the_critical_path_of_a_chain_is_the_chain) {
  const auto r = simulator(plain_machine(), 4)
                     .run(call_of(collective::bcast, 80), read_choice(collective::bcast, "bcast/chain"),
                          {.max_recorded = 100});
  std::vector<std::pair<int, int>> messages;
  for (const path_step& s : r.critical_path())
    if (s.to >= 0) messages.emplace_back(s.rank, s.to);
  EXPECT_EQ(messages, (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {2, 3}}));
}

// What the core of each rank does is recorded: the time until the rank is done, less its waits.
TEST(simulation_record, records_the_work_of_each_rank) {
  machine m = machine_named("eight-per-node");
  m.copy_speed = 10e9;
  m.reduce_speed = 5e9;
  for (const char* name : {"allreduce/recursive_doubling", "reduce/linear", "reduce/knomial:k=4",
                           "reduce_scatter/ring", "gather/linear", "alltoall/scattered", "barrier/tree"})
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{200'000}}) {
      const collective what = collective_of(name);
      const auto r =
          simulator(m, 20).run(call_of(what, bytes), read_choice(what, name), {.max_recorded = 1'000'000});
      std::vector<double> busy(20);
      for (const simulated_round& one : r.rounds)
        busy[static_cast<std::size_t>(one.rank)] += one.sent - one.begin + (one.end - one.received);
      for (const simulated_message& one : r.sent)
        busy[static_cast<std::size_t>(one.to)] += one.process_end - one.process_begin;
      for (std::size_t rank = 0; rank < 20; ++rank)
        EXPECT_NEAR(busy[rank], r.ends[rank] - r.waits[rank], 1e-9 * r.seconds) << name << ", rank " << rank;
    }
}

TEST(simulation_record, the_reduction_of_a_received_message_is_work) {
  machine m = plain_machine();
  m.reduce_speed = 20e6;
  const auto r = simulator(m, 2).run(call_of(collective::reduce, 80),
                                     read_choice(collective::reduce, "reduce/linear"), {.max_recorded = 9});
  ASSERT_EQ(r.sent.size(), 1u);
  EXPECT_NEAR(r.sent[0].process_begin, r.sent[0].arrival, 1e-15);
  EXPECT_NEAR(r.sent[0].process_end, r.sent[0].arrival + 7e-6, 1e-15);  // overhead and reduction
}

TEST(simulation_record, recording_changes_no_time_and_is_limited) {
  simulator s(machine_named("flat"), 16);
  const choice ring = read_choice(collective::allreduce, "allreduce/ring");
  const simulated_call c = call_of(collective::allreduce, 4096);
  const auto without = s.run(c, ring), with = s.run(c, ring, {.max_recorded = 1000}),
             limited = s.run(c, ring, {.max_recorded = 100});
  EXPECT_EQ(without.seconds, with.seconds);
  EXPECT_EQ(without.seconds, limited.seconds);
  EXPECT_EQ(with.sent.size(), 480u);
  EXPECT_TRUE(with.recorded);
  EXPECT_FALSE(limited.recorded);
  EXPECT_TRUE(limited.sent.empty() && limited.critical_path().empty());
}

TEST(simulation_record, reports_progress) {
  const struct {
    const char *machine, *algorithm;
    std::size_t recorded;
  } cases[] = {{"flat", "allreduce/ring", 0},  // one rank stands for all
               {"flat", "allreduce/ring", 1'000'000},
               {"eight-per-node", "alltoall/pairwise", 0},
               {"flat", "scatter/linear", 0}};
  for (const auto& one : cases) {
    const collective what = collective_of(one.algorithm);
    std::vector<simulation_progress> seen;
    const auto r = simulator(machine_named(one.machine), 200)
                       .run(call_of(what, 8), read_choice(what, one.algorithm),
                            {.max_recorded = one.recorded,
                             .must_record = one.recorded != 0,
                             .progress = [&](const simulation_progress& p) { seen.push_back(p); }});
    const auto messages = static_cast<double>(r.messages);
    ASSERT_FALSE(seen.empty()) << one.algorithm;
    EXPECT_GE(seen.back().messages, messages - 20'000) << one.algorithm;
    EXPECT_LE(seen.back().messages, messages) << one.algorithm;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i].expected, messages) << one.algorithm;
      EXPECT_GT(seen[i].messages, i == 0 ? -1 : seen[i - 1].messages) << one.algorithm;
    }
  }
}

TEST(simulation_record, can_reject_more_messages_than_are_recorded) {
  simulator s(machine_named("flat"), 16);
  const choice ring = read_choice(collective::allreduce, "allreduce/ring");
  const simulated_call c = call_of(collective::allreduce, 4096);
  EXPECT_THROW(s.run(c, ring, {.max_recorded = 479, .must_record = true}), too_many_messages);
  EXPECT_TRUE(s.run(c, ring, {.max_recorded = 480, .must_record = true}).recorded);
}

}  // namespace
}  // namespace tutti::simulation
