// SPDX-License-Identifier: Apache-2.0
//
// Tests the simulation of compositions: a sequence of calls takes the sum of their times, and every
// composition ends on every kind of machine.
#include "simulation/composite_simulation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "machines.hpp"
#include "selection/tree.hpp"
#include "simulation/call_shape.hpp"

namespace tutti::simulation {
namespace {

const selection& common_trees() {
  static const selection by{std::make_shared<const document>(builtin_document("common")), {}};
  return by;
}

TEST(composite_simulation, calls_in_sequence_add_up) {
  // Allreduce as a reduce to rank 0 and a bcast from it: rank 0 is the last of the reduce and the
  // first of the bcast.
  const machine m = machine_named("flat");
  for (const int p : {2, 8, 13})
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
      const auto both =
          simulator(m, p).run(call_of(collective::allreduce, bytes),
                              read_composition(collective::allreduce, "reduce_bcast"), common_trees());
      const double sum =
          microseconds(m, p, "reduce/knomial", bytes) + microseconds(m, p, "bcast/knomial", bytes);
      EXPECT_NEAR(both.seconds * 1e6, sum, 1e-6 * sum) << p << " ranks, " << bytes << " bytes";
    }
}

TEST(composite_simulation, inner_calls_of_a_node_use_its_memory) {
  // One node: the composition that reduces within nodes never leaves it.
  machine m = machine_named("eight-per-node");
  const auto r = simulator(m, 8).run(call_of(collective::allreduce, 4096),
                                     read_composition(collective::allreduce, "reduce_bcast"), common_trees());
  EXPECT_FALSE(r.any_link);
  EXPECT_EQ(r.messages, 14u);
}

TEST(composite_simulation, every_composition_ends) {
  for (const char* name : {"flat", "eight-per-node", "slow-cluster-64", "two-sockets"})
    for (const composed_algorithm* c : composition_catalogue())
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{200'000}}) {
        simulator s(machine_named(name), 24);
        const simulated_call call = call_of(c->what, c->what == collective::barrier ? 0 : bytes);
        const composed_choice choice(c);
        if (!permits(choice, context_of(call, s.links().topology()))) continue;
        const auto r = s.run(call, choice, common_trees(), {.max_recorded = 1'000'000});
        EXPECT_TRUE(std::isfinite(r.seconds) && r.seconds > 0) << c->name << " on " << name;
        const auto path = r.critical_path();
        ASSERT_FALSE(path.empty()) << c->name;
        EXPECT_NEAR(path.back().end, r.seconds, 1e-12) << c->name;
      }
}

TEST(composite_simulation, its_cost_includes_the_schedules_of_inner_calls) {
  const machine m = machine_named("flat");
  const int p = 64;
  const network links(m, p);
  const hierarchy topology = links.topology();
  event_run events(links, m);
  const simulated_call c = call_of(collective::allreduce, 1 << 20);
  const composed_choice both = read_composition(collective::allreduce, "reduce_bcast");
  composite_simulation plans(events, c, topology, both, common_trees());
  // The two calls follow one another.
  for (const int rank : {0, 1, 32}) {
    double messages = 0, memory = 0;
    for (const char* name : {"reduce/knomial", "bcast/knomial"}) {
      const simulated_call inner = call_of(collective_of(name), 1 << 20);
      const choice a = read_choice(inner.what, name);
      std::vector<int> neighbors;
      builder b;
      a.pure->write(shape_of(inner, p, rank, a.parameter_values, neighbors), b);
      rank_schedule written(b.finish(), lengths_of(inner, p, rank));
      const call_cost one = event_run::cost_of(written);
      messages += one.messages;
      memory = std::max(memory, one.memory);
    }
    EXPECT_EQ(plans.cost_of(rank).messages, messages) << rank;
    EXPECT_GT(plans.cost_of(rank).memory, memory) << rank;
    EXPECT_LT(plans.cost_of(rank).memory, memory + 4096) << rank;
  }
}

TEST(composite_simulation, its_cost_counts_all_messages) {
  const machine m = machine_named("eight-per-node");
  const int p = 32;
  const network links(m, p);
  const hierarchy topology = links.topology();
  for (const char* name : {"allreduce/node_leader", "alltoall/node_leader", "bcast/multi_lane"}) {
    const simulated_call c = call_of(collective_of(name), 4096);
    const composed_choice which = read_composition(c.what, name);
    event_run events(links, m);
    composite_simulation plans(events, c, topology, which, common_trees());
    double messages = 0;
    for (int rank = 0; rank < p; ++rank) messages += plans.cost_of(rank).messages;
    EXPECT_EQ(messages, static_cast<double>(simulator(m, p).run(c, which, common_trees()).messages)) << name;
  }
}

TEST(composite_simulation, needs_an_algorithm_for_each_inner_call) {
  selection none = common_trees();
  none.trees = nullptr;  // the fallback in code serves
  const auto r = simulator(machine_named("flat"), 4)
                     .run(call_of(collective::allreduce, 8),
                          read_composition(collective::allreduce, "reduce_bcast"), none);
  EXPECT_GT(r.seconds, 0);
}

}  // namespace
}  // namespace tutti::simulation
