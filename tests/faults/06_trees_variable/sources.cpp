// SPDX-License-Identifier: Apache-2.0
//
// Tests from which files the trees come, in which order, and the warning about halves that no
// variable reads.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "runtime/settings/active_trees.hpp"
#include "support/contained_text.hpp"
#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"
#include "support/selection_contexts.hpp"
#include "tutti/error.hpp"

namespace tests {
namespace {

using namespace tutti;

using namespace tutti::detail;

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
    output = captured_stderr([&] {
      const auto trees = detail::load_trees("threads");
      const selection_context s = make_selection_context(collective::allreduce, 4, 1000, 8, false,
                                                         builtin_op::sum, true, false, true, true);
      text = to_string(decide(*trees, s, tree_half::composition)) + ", " +
             std::string(name_of(decide(*trees, s)));
    });
    return text;
  }

  const scratch_folder here;
  std::string both, pure, output;
  const scoped_variable no_home{"HOME", here.path("home")}, no_config{"XDG_CONFIG_HOME", here.path("config")},
      no_trees{"TUTTI_TREES", ""}, no_pure{"TUTTI_COLL_SELECTION_JSON_FILE", ""},
      no_composition{"TUTTI_COLL_COMPOSITION_JSON_FILE", ""};
};

TEST_F(sources, one_variable_reads_both_halves) {
  const scoped_variable trees("TUTTI_TREES", both);
  EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
  EXPECT_EQ(output, "");
}

TEST_F(sources, default_path_is_in_user_configuration) {
  EXPECT_EQ(detail::user_trees().path, "");
  for (const char* folder : {"home/.config/tutti", "config/tutti"}) {
    std::filesystem::create_directories(here.path(folder));
    std::filesystem::copy_file(both, here.path(folder) + "/trees.json");
    EXPECT_EQ(detail::user_trees().path == here.path(folder) + "/trees.json",
              std::string(folder).starts_with("config"));
  }
  EXPECT_TRUE(detail::user_trees().is_default);
  EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
  const scoped_variable relative("XDG_CONFIG_HOME", "config");  // a relative path counts as not set
  EXPECT_EQ(detail::user_trees().path, here.path("home/.config/tutti/trees.json"));
  const scoped_variable none("TUTTI_TREES", "none");
  EXPECT_EQ(detail::user_trees().path, "");
  EXPECT_EQ(chosen().find("reduce_bcast"), std::string::npos);
  const scoped_variable named("TUTTI_TREES", pure);
  EXPECT_EQ(detail::user_trees().path, pure);
}

// One file under two names is one file.
TEST_F(sources, both_old_variables_may_name_one_file_differently) {
  std::filesystem::create_symlink(both, here.path("other.json"));
  const scoped_variable pure_trees("TUTTI_COLL_SELECTION_JSON_FILE", both);
  const scoped_variable compositions("TUTTI_COLL_COMPOSITION_JSON_FILE", here.path("other.json"));
  EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
  EXPECT_EQ(output, "");
}

TEST_F(sources, a_broken_default_file_has_a_remedy) {
  std::filesystem::create_directories(here.path("config/tutti"));
  std::ofstream(here.path("config/tutti/trees.json")) << "{";
  const scoped_variable strict("TUTTI_COLL_STRICT", "1");
  try {
    chosen();
    FAIL() << "nothing is thrown";
  } catch (const usage_error& e) {
    EXPECT_NE(std::string(e.what()).find("or set TUTTI_TREES=none"), std::string::npos) << e.what();
  }
}

TEST_F(sources, old_variables_override_and_report_unread_halves) {
  const scoped_variable old("TUTTI_COLL_SELECTION_JSON_FILE", both);
  EXPECT_EQ(chosen(), "@pure, double_tree");
  EXPECT_NE(output.find("TUTTI_COLL_SELECTION_JSON_FILE: the trees of compositions in " + both +
                        " are not read by this variable; TUTTI_TREES=" + both),
            output.npos)
      << output;
  {
    const scoped_variable other("TUTTI_COLL_COMPOSITION_JSON_FILE", both);
    EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
    EXPECT_EQ(output, "");
  }
  {
    const scoped_variable trees("TUTTI_TREES", both);
    EXPECT_EQ(chosen(), "reduce_bcast, double_tree");
    EXPECT_EQ(output, "");
    const scoped_variable on_top("TUTTI_COLL_SELECTION_JSON_FILE", pure);
    EXPECT_EQ(chosen(), "reduce_bcast, recursive_doubling");
  }
  const scoped_variable rank("OMPI_COMM_WORLD_RANK", "1");  // only rank 0 prints
  chosen();
  EXPECT_EQ(output, "");
}

TEST_F(sources, composition_variable_reads_its_half) {
  const scoped_variable old("TUTTI_COLL_COMPOSITION_JSON_FILE", both);
  EXPECT_EQ(chosen().substr(0, 14), "reduce_bcast, ");
  EXPECT_NE(output.find("the trees of pure algorithms in"), output.npos) << output;
}

TEST_F(sources, missing_file_is_reported) {
  const scoped_variable trees("TUTTI_TREES", here.path("none.json"));
  EXPECT_EQ(chosen().substr(0, 5), "@pure");
  EXPECT_NE(output.find("TUTTI_TREES: the default trees are used"), output.npos) << output;
  const scoped_variable strict("TUTTI_COLL_STRICT", "1");
  EXPECT_THROW(detail::load_trees("threads"), usage_error);
}

}  // namespace
}  // namespace tests
