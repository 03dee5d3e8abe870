// SPDX-License-Identifier: Apache-2.0
//
// Tests tutti tune: a short campaign gives legal trees, and wrong calls report errors.
// unit/grow.cpp tests how the figures are evaluated.
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

TEST(tune, writes_trees_that_are_legal) {
  const scratch_folder here;
  const std::string file = here.path("tuned.json");
  // The parentheses keep the progress output apart from the figures.
  const command_result done =
      shell("('" TUTTI_TOOL
            "' tune --quick --engine fibers --ranks 3 --collectives barrier,bcast --budget 5s "
            "--json --output '" +
            file + "' 2>/dev/null)");
  ASSERT_EQ(done.status, 0) << done.text;
  const json report = json::parse(done.text);
  EXPECT_EQ(report["engine"], "fibers");
  EXPECT_EQ(report["campaigns"].back()["ranks"], 3);
  EXPECT_LT(report["seconds"], 60);
  std::set<std::pair<std::string, int>> cells;
  for (const json& cell : report["cells"]) {
    cells.emplace(cell["collective"].get<std::string>(), cell["ranks"].get<int>());
    bool native = false;
    for (const json& choice : cell["pure"]) {
      EXPECT_GT(choice["us"], 0) << cell;
      native = native || choice["name"] == "native";
    }
    EXPECT_TRUE(native) << cell;
  }
  for (const char* what : {"barrier", "bcast"})
    for (const int ranks : {2, 3}) EXPECT_TRUE(cells.contains({what, ranks})) << what << " " << ranks;
  const json document = json::parse(contents(file));
  EXPECT_EQ(document, report["document"]);
  for (const char* key : {"cores", "cpu", "engine", "date", "command", "ranks"})
    EXPECT_FALSE(document["machine"][key].get<std::string>().empty()) << key;
  EXPECT_EQ(document["machine"]["command"].get<std::string>().find('/'), std::string::npos);
  const command_result valid = tutti("validate '" + file + "'");
  EXPECT_EQ(valid.status, 0) << valid.text;
  const command_result onto =
      tutti("tune --quick --engine fibers --ranks 4 --only --collectives barrier --budget 1s --onto '" +
            file + "' --output '" + file + "'");
  EXPECT_EQ(onto.status, 0) << onto.text;
  EXPECT_EQ(tutti("validate '" + file + "'").status, 0);
}

TEST(tune, wrong_calls_end_with_2) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--engine thraeds", "there is no engine"},
      {"--collectives allreduze", "did you mean \"allreduce\""},
      {"--engine mpi", "mpirun"},
      {"--ranks 1", "must be 2 to 4096"},
      {"--budget soon", "120s"},
      {"--output no/such/folder/x.json", "is not a folder"},
      {"--onto no_such_file.json", "cannot be read"}};
  for (const auto& [arguments, text] : wrong) {
    const command_result e = tutti(std::string("tune ") + arguments);
    EXPECT_EQ(e.status, 2) << arguments;
    EXPECT_NE(e.text.find(text), e.text.npos) << e.text;
  }
}

}  // namespace
