// SPDX-License-Identifier: Apache-2.0
//
// Tests that an engine in one folder is known everywhere: in the table, in the messages of run(),
// in the trees. The spmd programs, linked with the same library, test its results.
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "engines/engine_table.hpp"
#include "selection/tree.hpp"
#include "support/contained_text.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "tutti/tutti.hpp"

namespace tutti::detail {
namespace {

using tests::scoped_variable;

run_options on(const char* engine, int ranks) {
  run_options o;
  o.engine = engine;
  o.ranks = ranks;
  return o;
}
std::string refused(const run_options& options) {
  return tests::failure_of(options, [](communicator&) {});
}

TEST(a_new_engine, runs_when_it_is_named_by_the_environment) {
  const scoped_variable engine("TUTTI_ENGINE", "loopback");
  int ran = 0;
  testing::internal::CaptureStderr();
  run(run_options{}, [&](communicator& world) {  // runs one rank, although no number is given
    ++ran;
    EXPECT_EQ(world.size(), 1);
    EXPECT_EQ(world.allreduce_single(send_buf(7), op(std::plus<>{})), 7);
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(ran, 1);
}

TEST(a_new_engine, is_offered_to_who_names_one_that_does_not_exist) {
  const std::string text = refused(on("lopback", 1));
  EXPECT_TRUE(tests::contains(text, "there is no engine \"lopback\""));
  EXPECT_TRUE(tests::contains(text, "choose fibers, loopback, mpi or threads"));
}

TEST(a_new_engine, refuses_more_ranks_than_it_makes_and_says_why) {
  const std::string text = refused(on("loopback", 2));
  EXPECT_TRUE(tests::contains(text, "is 2, but the engine loopback has 1 rank"));
  EXPECT_TRUE(tests::contains(text, "its rank talks to itself"));
}

TEST(a_new_engine, reports_variables_of_other_engines) {
  const scoped_variable seed("TUTTI_SEED", "3");
  testing::internal::CaptureStderr();
  run(on("loopback", 1), [](communicator&) {});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tutti: TUTTI_SEED is set, but the engine is not fibers\n");
}

TEST(a_new_engine, reports_a_rank_that_throws) {
  int rank = -1;
  const std::string text = tests::failure_of(
      on("loopback", 1), [](communicator&) { throw std::runtime_error("planted"); }, &rank);
  EXPECT_EQ(rank, 0);
  EXPECT_TRUE(tests::contains(text, "planted"));
}

TEST(a_new_engine, offers_no_collectives_unless_it_says_so) {
  agreed_signature barrier;
  barrier.what = collective::barrier;
  EXPECT_FALSE(find_engine("loopback")->native(barrier, {}) != native_offer::none);
  EXPECT_TRUE(find_engine("threads")->native(barrier, {}) == native_offer::any);
}

TEST(a_new_engine, has_the_common_trees_until_it_is_measured) {
  selection_context s;
  s.call.what = collective::allreduce;
  s.call.ranks = 4;
  const document own = builtin_document("loopback"), common = builtin_document("common");
  EXPECT_TRUE(decide(own, s).same_choice(decide(common, s)));
}

// The engines of the library in this program's table and in their descriptions.
TEST(engines, take_every_job_that_names_none_one_at_a_time) {
  for (const bool launched : {false, true})
    for (const std::uint64_t seed : {0, 7})
      for (const int ranks : {1, 2, 3, 100}) {
        int willing = 0;
        for (const engine_entry* e : engines())
          if (e->by_default != nullptr && e->by_default({launched, seed, ranks, 2})) ++willing;
        EXPECT_EQ(willing, 1) << launched << seed << ranks;
      }
}

TEST(engines, have_names_of_their_own_and_say_what_they_are) {
  std::set<std::string_view> names, variables;
  for (const engine_entry* e : engines()) {
    EXPECT_TRUE(names.insert(e->name).second) << e->name;
    EXPECT_FALSE(e->meaning.empty() || e->when.empty()) << e->name;
    EXPECT_EQ(find_engine(e->name), e);
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"fibers", "loopback", "mpi", "threads"}));
  for (const variable& v : all_variables()) EXPECT_TRUE(variables.insert(v.name).second) << v.name;
  EXPECT_TRUE(variables.contains("TUTTI_SEED") && variables.contains("TUTTI_MPI"));
}

}  // namespace
}  // namespace tutti::detail
