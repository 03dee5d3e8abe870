// SPDX-License-Identifier: Apache-2.0
//
// Tests user documents in a running job: conditions that the engine registers, templates, and
// unknown names.
#include <string>
#include <vector>

#include "support/contained_text.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"
#include "tutti/tutti.hpp"

namespace tests {
namespace {

using namespace tutti;

constexpr int many_ranks = 1024;  // more than the cores of any machine here

// The algorithm that allreduce ran, and the output on standard error.
struct ending {
  std::string algorithm, printed;
};
ending run_with(const std::string& document, const char* engine, int ranks) {
  const scratch_folder here;
  const scoped_variable file("TUTTI_COLL_SELECTION_JSON_FILE", here.file("tree.json", document));
  ending e;
  e.printed = captured_stderr([&] {
    EXPECT_TRUE(passes(job{engine, ranks}, [&](communicator& world) {
      const std::vector<int> some(20, 1);
      (void)world.allreduce(send_buf(some), op(std::plus<>{}));
      if (world.rank() == 0) e.algorithm = world.last_algorithm(collective::allreduce);
    }));
  });
  return e;
}

TEST(trees_in_force, read_what_the_engine_registers) {
  const std::string text = R"({"schema": "tutti/tree/1",
   "conditions": {"oversubscribed": "more ranks than cores"},
   "pure": {"allreduce": [
     {"when": {"inter": false, "commutative": true, "oversubscribed": true}, "use": "double_tree"},
     {"when": {"inter": false, "commutative": true}, "use": "segmented_ring"}]}})";
  EXPECT_EQ(run_with(text, "fibers", many_ranks).algorithm, "allreduce/double_tree");
  for (const char* engine : {"threads", "fibers"}) {
    const ending one = run_with(text, engine, 1);
    EXPECT_EQ(one.algorithm, "allreduce/segmented_ring");
    EXPECT_EQ(one.printed, "");
  }
}

TEST(trees_in_force, treat_unknown_conditions_as_false_and_report_them_once) {
  const ending e = run_with(R"({"schema": "tutti/tree/1",
   "conditions": {"full_moon": "it is night"},
   "pure": {"allreduce": [
     {"when": {"inter": false, "full_moon": true}, "use": "recursive_doubling"},
     {"when": {"inter": false, "commutative": true}, "use": "segmented_ring"}]}})",
                            "threads", 3);
  EXPECT_EQ(e.algorithm, "allreduce/segmented_ring");
  EXPECT_EQ(
      e.printed,
      "tutti: the trees test \"full_moon\", which the engine threads does not know: it counts as false\n");
}

TEST(trees_in_force, on_a_template_leave_nothing_to_the_engine) {
  // On 2 threads 80 bytes use recursive doubling, where mpi's own tree chooses the native
  // collective.
  EXPECT_EQ(run_with(R"({"schema": "tutti/tree/1", "pure": {}})", "threads", 2).algorithm,
            "allreduce/recursive_doubling");
  EXPECT_EQ(run_with(R"({"schema": "tutti/tree/1", "extends": "common"})", "threads", 2).algorithm,
            "allreduce/native");
}

}  // namespace
}  // namespace tests
