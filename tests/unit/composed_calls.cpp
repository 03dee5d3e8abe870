// SPDX-License-Identifier: Apache-2.0
//
// Tests what makes a call composed: the call itself, the environment, the composition tree; and
// what does not.
#include <functional>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/contained_text.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"
#include "tutti/tutti.hpp"

namespace tests {
namespace {

using namespace tutti;

const auto last = [](int, int b) { return b; };  // an operator whose order matters

class composed_calls : public testing::TestWithParam<const char*> {
 protected:
  // Returns the output on standard error. A rank's failure fails the test.
  static std::string stderr_of(const std::function<void(communicator&)>& program) {
    return captured_stderr([&] { EXPECT_TRUE(passes(job{GetParam(), 4}, program)); });
  }
  static void expect_ran(communicator& world, collective what, const std::string& name) {
    check.equal(std::string(world.last_algorithm(what)), name);
  }
  static int sum_of_ranks(communicator& world) { return world.size() * (world.size() - 1) / 2; }
};
INSTANTIATE_TEST_SUITE_P(engines, composed_calls, testing::Values("threads", "fibers"), by_name());

TEST_P(composed_calls, are_named_by_the_call_in_every_mode) {
  const std::string printed = stderr_of([](communicator& world) {
    const int sum = sum_of_ranks(world);
    const auto mine = send_buf(world.rank());
    check.that(world.allreduce_single(mine, op(std::plus<>{}), composition("reduce_bcast")) == sum,
               "blocking");
    expect_ran(world, collective::allreduce, "allreduce/reduce_bcast");
    const std::vector<int> some(100, world.rank());
    auto under_way =
        world.iallreduce(send_buf(some), op(std::plus<>{}), composition("allreduce/reduce_bcast"));
    auto other = world.iallreduce(send_buf(some), op(std::plus<>{}), composition("pipeline:segment=64"));
    check.that(other.wait() == std::vector<int>(100, sum), "nonblocking pipeline");
    check.that(under_way.wait() == std::vector<int>(100, sum), "nonblocking");
    auto plan = world.allreduce_init(send_buf(some), op(std::plus<>{}), composition("pipeline:segment=64"));
    for (int i = 0; i < 3; ++i) {
      plan.start();
      check.that(plan.wait() == std::vector<int>(100, sum), "persistent");
    }
    check.that(world.allreduce_single(mine, op(std::plus<>{}), composition("@pure")) == sum, "null");
    check.that(!has(world.last_algorithm(collective::allreduce), "reduce_bcast"), "the null composition");
    world.barrier(composition("blocking_by_nonblocking"));
    expect_ran(world, collective::barrier, "barrier/blocking_by_nonblocking");
  });
  EXPECT_EQ(printed, "");
}

TEST_P(composed_calls, or_pure_ones_in_segments_are_named_by_either_name) {
  EXPECT_EQ(stderr_of([](communicator& world) {
              const std::vector<int> mine(100, world.rank());
              for (const char* name : {"ring:segment=64", "segmented_ring:segment=64"}) {
                check.that(world.allreduce(send_buf(mine), op(std::plus<>{}), algorithm(name)) ==
                               std::vector<int>(100, sum_of_ranks(world)),
                           name);
                expect_ran(world, collective::allreduce, "allreduce/segmented_ring");
              }
            }),
            "");
}

TEST_P(composed_calls, of_other_counts_and_roots_are_planned_anew) {
  const scoped_variable forced("TUTTI_BCAST_COMPOSITION", "pipeline:segment=32,window=2");
  EXPECT_EQ(stderr_of([](communicator& world) {
              for (int i = 0; i < 40; ++i) {
                const std::size_t n = static_cast<std::size_t>(i * 7 % 50);
                const int from = i % world.size();
                std::vector<int> data(n, world.rank() == from ? i : -1);
                world.bcast(send_recv_buf(data), root(from));
                check.that(data == std::vector<int>(n, i), "bcast");
              }
              expect_ran(world, collective::bcast, "bcast/pipeline");
            }),
            "");
}

TEST_P(composed_calls, that_do_not_exist_are_rejected) {
  EXPECT_EQ(stderr_of([](communicator& world) {
              for (const char* name : {"reduce_bcats", "node_leader:window=3", "pipeline:segment=0"}) {
                const std::string printed = std::string(name).substr(0, 8);
                check.throws<usage_error>(
                    [&] { world.allreduce(send_buf(1), op(std::plus<>{}), composition(name)); },
                    {printed.c_str()});
              }
            }),
            "");
  const scoped_variable forced("TUTTI_ALLREDUCE_COMPOSITION", "reduce_bcats");
  run_options options;
  options.engine = GetParam();
  EXPECT_THROW(run(options, [](communicator&) {}), usage_error);
}

TEST_P(composed_calls, give_way_to_a_named_algorithm_unless_they_are_named_too) {
  const scoped_variable algorithm_too("TUTTI_ALLREDUCE_ALGORITHM", "recursive_doubling");
  EXPECT_EQ(stderr_of([](communicator& world) {
              check.that(
                  world.allreduce_single(send_buf(world.rank()), op(std::plus<>{})) == sum_of_ranks(world),
                  "sum");
              expect_ran(world, collective::allreduce, "allreduce/recursive_doubling");
            }),
            "");
  // The inner call of the composition uses the algorithm.
  const scoped_variable both("TUTTI_ALLREDUCE_COMPOSITION", "pipeline");
  const scratch_folder here;
  const std::string path = here.path("trace.json");
  const scoped_variable trace("TUTTI_TRACE", "calls:json=" + path);
  EXPECT_EQ(stderr_of([](communicator& world) {
              check.that(
                  world.allreduce_single(send_buf(world.rank()), op(std::plus<>{})) == sum_of_ranks(world),
                  "sum");
              expect_ran(world, collective::allreduce, "allreduce/pipeline");
            }),
            "");
  const std::string traced = contents(path);
  EXPECT_TRUE(has(traced, "pipeline") && has(traced, "recursive_doubling")) << traced;
}

TEST_P(composed_calls, whose_restrictions_are_violated_fall_back) {
  const scoped_variable nodes("TUTTI_NODES", "3,1");
  const scoped_variable forced("TUTTI_ALLREDUCE_COMPOSITION", "multi_leader");
  const auto program = [](communicator& world) {
    for (int i = 0; i < 3; ++i)
      check.that(world.allreduce_single(send_buf(world.rank()), op(std::plus<>{})) == sum_of_ranks(world),
                 "sum");
    check.that(!has(world.last_algorithm(collective::allreduce), "multi_leader"), "it ran");
  };
  const std::string printed = stderr_of(program);
  EXPECT_TRUE(contains(printed, "TUTTI_ALLREDUCE_COMPOSITION \"multi_leader\" does not serve this call"));
  {
    const scoped_variable silent("TUTTI_COLL_FALLBACK", "silent");
    EXPECT_EQ(stderr_of(program), "");
  }
  const scoped_variable strict("TUTTI_COLL_FALLBACK", "error");
  const std::string refused = stderr_of([](communicator& world) {
    check.throws<usage_error>([&] { world.allreduce(send_buf(1), op(std::plus<>{})); },
                              {"TUTTI_ALLREDUCE_COMPOSITION"});
  });
  EXPECT_FALSE(has(refused, "failed")) << refused;
}

TEST_P(composed_calls, that_ranks_name_differently_are_found_by_checked_mode) {
  const scoped_variable checked("TUTTI_CHECK", "1");
  EXPECT_EQ(stderr_of([](communicator& world) {
              std::string text;
              try {
                world.allreduce(send_buf(1), op(std::plus<>{}),
                                composition(world.rank() == 0 ? "reduce_bcast" : "pipeline"));
              } catch (const mismatch_error& e) {
                text = e.what();
              }
              check.that(has(text, "\"reduce_bcast\"") && has(text, "\"pipeline\""), "the names are missing");
            }),
            "");
}

TEST_P(composed_calls, that_no_call_used_are_reported) {
  const scoped_variable forced("TUTTI_GATHER_COMPOSITION", "blocking_by_nonblocking");
  EXPECT_EQ(stderr_of([](communicator& world) { world.barrier(); }),
            "tutti: TUTTI_GATHER_COMPOSITION=blocking_by_nonblocking was never used: the program made no "
            "such call whose algorithm was free to choose\n");
}

TEST_P(composed_calls, keep_the_order_of_operands_over_nodes_in_rank_order) {
  const scoped_variable nodes("TUTTI_NODES", "2,1,1");
  const scoped_variable forced("TUTTI_ALLREDUCE_COMPOSITION", "node_leader");
  EXPECT_EQ(stderr_of([](communicator& world) {
              check.that(world.allreduce_single(send_buf(world.rank()), op(last, ops::non_commutative)) ==
                             world.size() - 1,
                         "order");
              expect_ran(world, collective::allreduce, "allreduce/node_leader");
            }),
            "");
  const scoped_variable scattered("TUTTI_NODES", "0:1:0:1");
  const std::string printed = stderr_of([](communicator& world) {
    check.that(
        world.allreduce_single(send_buf(world.rank()), op(last, ops::non_commutative)) == world.size() - 1,
        "order");
    check.that(!has(world.last_algorithm(collective::allreduce), "node_leader"), "it ran on scattered ranks");
  });
  EXPECT_TRUE(contains(printed, "change the order of operands"));
}

TEST_P(composed_calls, are_chosen_by_the_composition_tree) {
  const scratch_folder here;
  const std::string path = here.file("tree.json", R"({"schema": "tutti/tree/1", "composition": {"allreduce": [
    {"when": {"hierarchical": true, "rank_order": true, "inter": false}, "by": "bytes", "steps": [
      {"upto": 64, "use": "@pure"}, {"use": "node_leader"}]}]}})");
  const scoped_variable file("TUTTI_COLL_COMPOSITION_JSON_FILE", path);
  const scoped_variable nodes("TUTTI_NODES", "2x2");
  EXPECT_EQ(
      stderr_of([](communicator& world) {
        for (const std::size_t n : {100u, 2u, 100u, 50u, 16u, 17u}) {
          const std::vector<int> mine(n, world.rank());
          check.that(
              world.allreduce(send_buf(mine), op(std::plus<>{})) == std::vector<int>(n, sum_of_ranks(world)),
              "sum");
          check.that(has(world.last_algorithm(collective::allreduce), "node_leader") == (n > 16), "choice");
        }
      }),
      "");
}

TEST_P(composed_calls, between_groups_have_a_variable_for_their_algorithm) {
  const scoped_variable forced("TUTTI_ALLREDUCE_INTER_ALGORITHM", "across");
  EXPECT_EQ(stderr_of([](communicator& world) {
              auto both = world.between(1);
              (void)both.allreduce(send_buf(world.rank()), op(std::plus<>{}));
              check.that(std::string(both.last_algorithm(collective::allreduce)) == "allreduce/across",
                         "inter");
            }),
            "");
  const scoped_variable unused("TUTTI_BCAST_INTER_ALGORITHM", "across");
  EXPECT_TRUE(has(stderr_of([](communicator& world) {
                    auto both = world.between(1);
                    (void)both.allreduce(send_buf(world.rank()), op(std::plus<>{}));
                  }),
                  "TUTTI_BCAST_INTER_ALGORITHM=across was never used"));
}

}  // namespace
}  // namespace tests
