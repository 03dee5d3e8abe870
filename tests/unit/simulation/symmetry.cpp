// SPDX-License-Identifier: Apache-2.0
//
// The ranks of one node represent all where that is exact: the results are those of a simulation of
// all ranks.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "machines.hpp"
#include "proof/cases.hpp"

namespace tutti::simulation {
namespace {

constexpr double precision = 1e-12;  // relative to the time of the call

void expect_same(const simulation_result& some, const simulation_result& all) {
  const double tolerance = precision * all.seconds;
  EXPECT_NEAR(some.seconds, all.seconds, tolerance);
  EXPECT_EQ(some.messages, all.messages);
  EXPECT_EQ(some.bytes, all.bytes);
  ASSERT_EQ(some.ends.size(), all.ends.size());
  ASSERT_EQ(some.waits.size(), all.waits.size());
  for (std::size_t r = 0; r < all.ends.size(); ++r) {
    EXPECT_NEAR(some.ends[r], all.ends[r], tolerance) << "rank " << r;
    EXPECT_NEAR(some.waits[r], all.waits[r], tolerance) << "rank " << r;
  }
  EXPECT_EQ(some.any_link, all.any_link);
  EXPECT_EQ(some.busiest_link, all.busiest_link);
  EXPECT_EQ(some.busiest_bytes, all.busiest_bytes);
  EXPECT_NEAR(some.busiest_share, all.busiest_share, precision);
  EXPECT_TRUE(all.recorded);
  EXPECT_FALSE(some.recorded);  // so there is no critical path
}

struct represented {
  std::size_t calls = 0, all_calls = 0;
  std::set<std::string> algorithms;
};

// Simulates calls of every algorithm, and once more with all ranks if one node represented them.
represented compare(const machine& m, int p, std::initializer_list<std::size_t> sizes) {
  represented found;
  simulator s(m, p);
  for (const pure_algorithm* a : catalogue()) {
    const auto region =
        static_cast<int>(a->default_values()[static_cast<std::size_t>(algorithm_parameter::region)]);
    if (has_restriction(a->restrictions, restriction::inter) || !proof::serves(*a, p)) continue;
    if (has_restriction(a->restrictions, restriction::equal_regions) && p % region != 0) continue;
    for (const std::size_t bytes : sizes) {
      SCOPED_TRACE(std::string(a->name) + " of " + std::to_string(p) + ", " + std::to_string(bytes) +
                   " bytes");
      simulated_call c = call_of(a->what, bytes);
      c.in_place = has_restriction(a->restrictions, restriction::in_place);
      const simulation_result some = s.run(c, choice(a));
      ++found.all_calls;
      if (some.simulated_ranks == p) continue;
      EXPECT_EQ(some.simulated_ranks, m.ranks_per_node);
      const simulation_result all = s.run(c, choice(a), {.max_recorded = 10'000'000, .must_record = true});
      EXPECT_EQ(all.simulated_ranks, p);
      expect_same(some, all);
      ++found.calls;
      found.algorithms.insert(std::string(a->name));
    }
  }
  return found;
}

constexpr std::initializer_list<std::size_t> sizes{8, 32768, 1 << 20};

struct machine_case {
  const char* machine;
  int ranks;
  std::size_t represented;  // calls, at least; 0: none
};

class symmetry : public testing::TestWithParam<machine_case> {};

TEST_P(symmetry, has_the_results_of_all_ranks) {
  const machine_case& c = GetParam();
  // If none is represented, there is nothing to compare, so a length suffices.
  const represented r = c.represented == 0 ? compare(machine_named(c.machine), c.ranks, {8})
                                           : compare(machine_named(c.machine), c.ranks, sizes);
  EXPECT_GE(r.calls, c.represented);
  EXPECT_GT(r.all_calls, r.calls);
  if (c.represented == 0) {
    EXPECT_EQ(r.calls, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , symmetry,
    testing::Values(machine_case{"eight-per-node", 8, 0}, machine_case{"eight-per-node", 16, 97},
                    machine_case{"eight-per-node", 24, 63}, machine_case{"eight-per-node", 64, 97},
                    machine_case{"fast-cluster-8", 8, 0}, machine_case{"fast-cluster-8", 16, 91},
                    machine_case{"fast-cluster-8", 24, 57}, machine_case{"fast-cluster-8", 64, 91},
                    machine_case{"fast-cluster-2", 8, 91}, machine_case{"fast-cluster-2", 16, 91},
                    machine_case{"fast-cluster-2", 24, 60}, machine_case{"fast-cluster-2", 64, 91},
                    machine_case{"flat", 8, 106}, machine_case{"flat", 16, 106}, machine_case{"flat", 24, 75},
                    machine_case{"flat", 64, 106},
                    // One node.
                    machine_case{"fast-cluster-2x32", 8, 0}, machine_case{"fast-cluster-2x32", 64, 0},
                    machine_case{"fast-cluster-64", 24, 0}, machine_case{"fast-cluster-64", 64, 0},
                    machine_case{"two-sockets", 16, 0}, machine_case{"two-sockets", 64, 0},
                    // Uplinks that some nodes share.
                    machine_case{"fat-tree", 8, 0}, machine_case{"fat-tree", 16, 0},
                    machine_case{"fat-tree", 24, 0}, machine_case{"fat-tree", 64, 0},
                    machine_case{"dragonfly", 16, 0},
                    // The last node is not full.
                    machine_case{"eight-per-node", 12, 0}, machine_case{"fast-cluster-2", 15, 0}),
    [](const auto& info) {
      std::string name = info.param.machine + std::string("_") + std::to_string(info.param.ranks);
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

TEST(symmetry_of, large_nodes_with_and_without_sockets) {
  for (const char* name : {"fast-cluster-2x32", "fast-cluster-64"})
    EXPECT_GE(compare(machine_named(name), 128, {32768}).calls, 30u) << name;
  machine m = machine_named("fast-cluster-2x32");
  m.ranks_per_node = 6;
  m.sockets = 2;
  m.within_socket.total = 15e9;
  m.between_sockets.total = 7e9;
  EXPECT_GE(compare(m, 18, sizes).calls, 50u);
  EXPECT_GE(compare(m, 48, sizes).calls, 50u);
}

TEST(symmetry_of, algorithms_without_a_root) {
  const std::set<std::string> expected{"allgather/linear",
                                       "allgather/neighbor_exchange",
                                       "allgather/pat",
                                       "allgather/recursive_doubling",
                                       "allgather/ring",
                                       "allgather/sparbit",
                                       "allgatherv/ring",
                                       "allreduce/bine",
                                       "allreduce/hops",
                                       "allreduce/rabenseifner",
                                       "allreduce/recursive_doubling",
                                       "allreduce/ring",
                                       "allreduce/segmented_ring",
                                       "allreduce/swing",
                                       "alltoall/bruck",
                                       "alltoall/pairwise",
                                       "alltoall/scattered",
                                       "alltoallv/scattered",
                                       "alltoallw/scattered",
                                       "barrier/dissemination",
                                       "barrier/recursive_exchange",
                                       "neighbor_allgatherv/scattered",
                                       "neighbor_alltoallv/scattered",
                                       "reduce_scatter/pairwise",
                                       "reduce_scatter/recursive_doubling",
                                       "reduce_scatter/recursive_halving",
                                       "reduce_scatter/ring",
                                       "reduce_scatter_block/pairwise",
                                       "reduce_scatter_block/pat",
                                       "reduce_scatter_block/recursive_doubling",
                                       "reduce_scatter_block/recursive_halving",
                                       "reduce_scatter_block/ring"};
  EXPECT_EQ(compare(machine_named("fast-cluster-8"), 64, {32768}).algorithms, expected);
}

int simulated_ranks(const machine& m, int p, const char* name, const simulation_options& how = {}) {
  const collective what = collective_of(name);
  return simulator(m, p).run(call_of(what, 3072), read_choice(what, name), how).simulated_ranks;
}

TEST(symmetry_of, calls_that_need_not_be_recorded) {
  const machine m = machine_named("fast-cluster-8");
  const char* const ring = "allgather/ring";  // 31 rounds of 32 messages
  EXPECT_EQ(simulated_ranks(m, 32, ring), 8);
  EXPECT_EQ(simulated_ranks(m, 32, ring, {.max_recorded = 991}), 8);
  EXPECT_EQ(simulated_ranks(m, 32, ring, {.max_recorded = 992}), 32);
}

// Each rank exchanges with the rank two positions away, on nodes of four ranks.
enum class pairs { alike, of_other_positions, of_other_nodes };

template <pairs how>
void write_pairs(const shape& s, builder& b) {
  const int position = s.rank % 4;
  int node = s.rank / 4, other = position ^ 2;
  if (how == pairs::of_other_positions && node == 0) other = position ^ 1;
  if (how == pairs::of_other_nodes && node < 2) node ^= 1;
  b.exchange(node * 4 + other, block(buffer::input, 0), node * 4 + other, block(buffer::output, 0));
}

TEST(symmetry_of, nodes_whose_ranks_have_peers_at_the_same_places) {
  machine m = machine_named("fast-cluster-8");
  m.ranks_per_node = 4;
  m.sockets = 2;
  m.between_sockets = {1e-6, 1e9, 1e9};
  pure_algorithm a;
  a.name = "allgather/pairs";
  a.what = collective::allgather;
  simulator s(m, 16);
  const auto simulated = [&](void (*write)(const shape&, builder&)) {
    a.write = write;
    return s.run(call_of(collective::allgather, 80), choice(&a)).simulated_ranks;
  };
  EXPECT_EQ(simulated(write_pairs<pairs::alike>), 4);
  EXPECT_EQ(simulated(write_pairs<pairs::of_other_positions>), 16);
  EXPECT_EQ(simulated(write_pairs<pairs::of_other_nodes>), 16);
}

}  // namespace
}  // namespace tutti::simulation
