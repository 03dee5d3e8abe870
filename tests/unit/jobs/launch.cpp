// SPDX-License-Identifier: Apache-2.0
//
// Tests that invalid options and launchers are reported before any rank runs.
#include <string>

#include "support/contained_text.hpp"
#include "support/scoped_variable.hpp"
#include "tutti/tutti.hpp"
#include "unit/jobs/each_engine.hpp"

namespace tests {
namespace {

using namespace tutti;

std::string refusal_of(const job& j) {
  return failure_of(j.options(), [](communicator&) {});
}

TEST(options_of_run, that_make_no_sense_are_named) {
  EXPECT_TRUE(contains(refusal_of({"coroutines", 2}), "there is no engine \"coroutines\""));
  EXPECT_TRUE(contains(refusal_of({"threads", -3}), "-3"));
  EXPECT_TRUE(contains(refusal_of({"fibers", 2000000}), "2000000"));
  for (const char* bad : {"0", "-1", "two", "99999999", "3x", ""}) {
    const scoped_variable ranks("TUTTI_RANKS", bad);
    const std::string text = refusal_of({"threads", 0});
    EXPECT_EQ(text.empty(), *bad == '\0') << bad;
    if (*bad != '\0') {
      EXPECT_TRUE(contains(text, "TUTTI_RANKS"));
    }
  }
  const scoped_variable forced("TUTTI_ALLREDUCE_ALGORITHM", "recursive_dubbling");
  EXPECT_TRUE(contains(refusal_of({"threads", 1}), "TUTTI_ALLREDUCE_ALGORITHM"));
}

TEST(an_mpi_launcher, whose_module_is_missing_is_an_error) {
  const scoped_variable path("TUTTI_MODULE_PATH", "/nonexistent");
  const scoped_variable launcher("PMIX_RANK", "0");  // a launcher that does not reveal its MPI
  const scoped_variable mpi("TUTTI_MPI", "no_such_mpi");
  const std::string text = refusal_of({"", 0});
  EXPECT_TRUE(contains(text, "no_such_mpi"));
  EXPECT_TRUE(contains(text, "is not installed"));
}

TEST(an_mpi_launcher, does_not_start_copies_of_an_embedded_job) {
  const scoped_variable launcher("OMPI_COMM_WORLD_SIZE", "4");
  const scoped_variable engine("TUTTI_ENGINE", "fibers");
  const std::string text = refusal_of({"", 0});
  EXPECT_TRUE(contains(text, "OMPI_COMM_WORLD_SIZE"));
}

}  // namespace
}  // namespace tests
