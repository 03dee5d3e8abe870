// SPDX-License-Identifier: Apache-2.0
//
// Tests which algorithm runs: named by a variable or a call, or chosen by a user's tree. Also tests
// the messages about names that do not serve the call, and about unused ones.
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/contained_text.hpp"
#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"
#include "tutti/tutti.hpp"
#include "unit/jobs/each_engine.hpp"

namespace tests {
namespace {

using namespace tutti;

class a_choice : public each_engine {};
INSTANTIATE_TEST_SUITE_P(engines, a_choice, each_engine::jobs(), by_name());

std::string ran(const communicator& world, collective what = collective::allreduce) {
  return world.last_algorithm(what);
}

TEST_P(a_choice, is_what_a_variable_or_a_call_names) {
  const scoped_variable forced("TUTTI_ALLREDUCE_ALGORITHM", "recursive_doubling");
  EXPECT_TRUE(passes([](communicator& world) {
    world.allreduce(send_buf(1), op(std::plus<>{}));
    check.equal(ran(world), "allreduce/recursive_doubling");
    world.allreduce(send_buf(1), op(std::plus<>{}), algorithm("allreduce/ring"));
    check.equal(ran(world), "allreduce/ring");
    world.allreduce(send_buf(1), op(std::plus<>{}), algorithm("native"));
    check.equal(ran(world), "allreduce/native");
    // Restrictions also apply to an algorithm that the call names: ring needs a commutative
    // operator, so another one runs.
    const auto last = [](int, int b) { return b; };
    const int got =
        world.allreduce_single(send_buf(world.rank()), op(last, ops::non_commutative), algorithm("ring"));
    check.equal(got, world.size() - 1);
    check.that(ran(world) != "allreduce/ring", "ring ran");
    check.throws<usage_error>(
        [&] { world.allreduce(send_buf(1), op(last, ops::non_commutative), algorithm("no_such")); },
        {"no_such"});
  }));
}

TEST_P(a_choice, continues_if_the_name_does_not_serve) {
  const scoped_variable unfit("TUTTI_ALLREDUCE_ALGORITHM", "ring");
  const auto unordered = [](communicator& world) {
    check.equal(world.allreduce_single(send_buf(world.rank()),
                                       op([](int, int b) { return b; }, ops::non_commutative)),
                world.size() - 1);
  };
  for (const char* policy : {"warn", "silent", "1"}) {
    const scoped_variable fallback("TUTTI_COLL_FALLBACK", policy);
    const std::string printed = captured_stderr([&] { EXPECT_TRUE(passes(unordered)); });
    EXPECT_EQ(
        has(printed, "TUTTI_ALLREDUCE_ALGORITHM \"ring\" does not serve this call: it requires an operator"),
        *policy != 's')
        << printed;
  }
  for (const char* policy : {"error", "0"}) {
    const scoped_variable fallback("TUTTI_COLL_FALLBACK", policy);
    EXPECT_TRUE(contains(failure_of(unordered), "TUTTI_ALLREDUCE_ALGORITHM"));
  }
  const scoped_variable fallback("TUTTI_COLL_FALLBACK", "perhaps");
  EXPECT_TRUE(contains(failure_of(unordered), "TUTTI_COLL_FALLBACK"));
}

TEST_P(a_choice, is_a_tree_of_the_users_unless_it_is_at_fault) {
  const scratch_folder here;
  const std::string path = here.path("tree.json");
  const scoped_variable variable("TUTTI_COLL_SELECTION_JSON_FILE", path);
  here.file("tree.json", R"({"schema": "tutti/tree/1", "pure": {"allreduce": [
    {"when": {"commutative": true, "inter": false}, "by": "bytes", "steps": [
      {"upto": 64, "use": "rabenseifner"}, {"use": "segmented_ring", "with": {"segment": 64}}]}]}})");
  const std::string printed = captured_stderr([&] {
    EXPECT_TRUE(passes([](communicator& world) {
      (void)world.allreduce(send_buf(std::vector<int>(2, 1)), op(std::plus<>{}));
      check.equal(ran(world), "allreduce/rabenseifner");
      (void)world.allreduce(send_buf(std::vector<int>(1000, 1)), op(std::plus<>{}));
      check.equal(ran(world), "allreduce/segmented_ring");
    }));
  });
  EXPECT_EQ(printed, "");
  // ring needs a commutative operator, which this region does not demand.
  here.file(
      "tree.json",
      R"({"schema": "tutti/tree/1", "pure": {"allreduce": [{"when": {"inter": false}, "use": "ring"}]}})");
  const std::string fault = captured_stderr([&] {
    EXPECT_TRUE(passes([](communicator& world) { (void)world.allreduce(send_buf(1), op(std::plus<>{})); }));
  });
  for (const std::string& part :
       {path, std::string("commutative"), std::string("the default trees are used")})
    EXPECT_TRUE(contains(fault, part));
  const scoped_variable strict("TUTTI_COLL_STRICT", "1");
  EXPECT_TRUE(contains(failure_of([](communicator&) {}), "TUTTI_COLL_SELECTION_JSON_FILE"));
  std::filesystem::remove(path);
  EXPECT_TRUE(contains(failure_of([](communicator&) {}), "cannot be read"));
}

TEST_P(a_choice, that_no_call_used_is_reported) {
  const scoped_variable forced("TUTTI_GATHER_ALGORITHM", "knomial:k=3");
  EXPECT_TRUE(
      contains(captured_stderr([&] { EXPECT_TRUE(passes([](communicator& world) { world.barrier(); })); }),
               "TUTTI_GATHER_ALGORITHM=knomial:k=3 was never used"));
  const std::string printed = captured_stderr([&] {
    EXPECT_TRUE(passes([](communicator& world) {
      (void)world.gather(send_buf(1));
      check.equal(ran(world, collective::gather), "gather/knomial");
    }));
  });
  EXPECT_EQ(printed, "");
}

}  // namespace
}  // namespace tests
