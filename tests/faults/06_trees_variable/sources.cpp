// SPDX-License-Identifier: Apache-2.0
//
// Tests from which files the trees come, in which order, and the warning about halves that no
// variable reads.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "runtime/settings/active_trees.hpp"
#include "support/environment.hpp"
#include "support/scratch_folder.hpp"
#include "support/selection_contexts.hpp"
#include "support/text.hpp"
#include "tutti/error.hpp"

namespace tests {
namespace {

using namespace tutti;

struct sources : testing::Test {
  sources() {
    std::ifstream in(std::string(SAMPLES) + "/both_halves.json");
    std::ostringstream all;
    all << in.rdbuf();
    both = here.file("both.json", all.str());
    pure = here.file("pure.json", R"({"schema": "tutti/tree/1", "pure": {"allreduce": [
      {"when": {"inter": false}, "use": "recursive_doubling"}]}})");
  }
  // Returns "composition, algorithm" of an allreduce of 8000 bytes, and captures the output.
  std::string chosen() {
    std::string text;
    said = said_on_stderr([&] {
      const auto trees = detail::load_trees("threads");
      const selection_context s =
          make_situation(collective::allreduce, 4, 1000, 8, false, builtin_op::sum, true, false, true, true);
      text = to_string(decide(*trees, s, tree_half::composition)) + ", " +
             std::string(name_of(decide(*trees, s)));
    });
    return text;
  }

  const scratch_folder here;
  std::string both, pure, said;
  const set_for_now no_home{"HOME", here.path("home")}, no_config{"XDG_CONFIG_HOME", here.path("config")},
      no_trees{"TUTTI_TREES", ""}, no_pure{"TUTTI_COLL_SELECTION_JSON_FILE", ""},
      no_composition{"TUTTI_COLL_COMPOSITION_JSON_FILE", ""};
};

TEST_F(sources, one_variable_reads_both_halves) {
  const set_for_now trees("TUTTI_TREES", both);
  EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
  EXPECT_EQ(said, "");
}

TEST_F(sources, the_default_place_is_in_the_users_configuration) {
  EXPECT_EQ(detail::trees_of_the_user().path, "");
  for (const char* folder : {"home/.config/tutti", "config/tutti"}) {
    std::filesystem::create_directories(here.path(folder));
    std::filesystem::copy_file(both, here.path(folder) + "/trees.json");
    EXPECT_EQ(detail::trees_of_the_user().path == here.path(folder) + "/trees.json",
              std::string(folder).starts_with("config"));
  }
  EXPECT_TRUE(detail::trees_of_the_user().is_default);
  EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
  const set_for_now relative("XDG_CONFIG_HOME", "config");  // a relative path counts as not set
  EXPECT_EQ(detail::trees_of_the_user().path, here.path("home/.config/tutti/trees.json"));
  const set_for_now none("TUTTI_TREES", "none");
  EXPECT_EQ(detail::trees_of_the_user().path, "");
  EXPECT_EQ(chosen().find("reduce_bcast"), std::string::npos);
  const set_for_now named("TUTTI_TREES", pure);
  EXPECT_EQ(detail::trees_of_the_user().path, pure);
}

TEST_F(sources, the_old_variables_lie_on_top_and_tell_what_they_do_not_read) {
  const set_for_now old("TUTTI_COLL_SELECTION_JSON_FILE", both);
  EXPECT_EQ(chosen(), "@pure, double_tree");
  EXPECT_NE(said.find("TUTTI_COLL_SELECTION_JSON_FILE: the trees of compositions in " + both +
                      " are not read by this variable; TUTTI_TREES=" + both),
            said.npos)
      << said;
  {
    const set_for_now other("TUTTI_COLL_COMPOSITION_JSON_FILE", both);
    EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
    EXPECT_EQ(said, "");
  }
  {
    const set_for_now trees("TUTTI_TREES", both);
    EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
    EXPECT_EQ(said, "");
    const set_for_now on_top("TUTTI_COLL_SELECTION_JSON_FILE", pure);
    EXPECT_EQ(chosen(), "reduce_bcast, recursive_doubling");
  }
  const set_for_now rank("OMPI_COMM_WORLD_RANK", "1");  // only rank 0 prints
  chosen();
  EXPECT_EQ(said, "");
}

TEST_F(sources, compositions_alone_have_their_half_too) {
  const set_for_now old("TUTTI_COLL_COMPOSITION_JSON_FILE", both);
  EXPECT_EQ(chosen().substr(0, 14), "reduce_bcast, ");
  EXPECT_NE(said.find("the trees of pure algorithms in"), said.npos) << said;
}

TEST_F(sources, a_file_that_is_named_and_not_there_is_told) {
  const set_for_now trees("TUTTI_TREES", here.path("none.json"));
  EXPECT_EQ(chosen().substr(0, 5), "@pure");
  EXPECT_NE(said.find("TUTTI_TREES: the default trees are used"), said.npos) << said;
  const set_for_now strict("TUTTI_COLL_STRICT", "1");
  EXPECT_THROW(detail::load_trees("threads"), usage_error);
}

}  // namespace
}  // namespace tests
