// SPDX-License-Identifier: Apache-2.0
//
// Tests that `tutti validate` reports each step that no call can reach, and accepts a tree whose
// steps are all reachable.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/contained_text.hpp"
#include "tool/tool.hpp"

namespace {

using namespace tool_tests;

constexpr const char* tree = R"({
  "schema": "tutti/tree/1",
  "pure": {
    "gatherv": [
      {"when": {"native": true}, "by": "total_bytes", "steps": [
        {"upto": 64, "use": "native"},
        {"upto": 4096, "use": "native"},
        {"use": "native"}]}]
  }
}
)";

TEST(validate, reports_unreachable_steps) {
  const scratch_folder here;
  const std::string file = here.file("tree.json", tree);
  const command_result e = tutti("validate '" + file + "'");
  EXPECT_EQ(e.status, 1) << e.text;
  for (const std::string step : {"1", "2"})
    EXPECT_TRUE(contains(e.text, "/pure/gatherv/0/steps/" + step +
                                     ": this step can never be reached: total_bytes is 0 here, because "));
  EXPECT_FALSE(has(e.text, "/steps/0")) << e.text;
  EXPECT_FALSE(has(e.text, ": valid")) << e.text;

  const command_result listed = tutti("validate --json '" + file + "'");
  EXPECT_EQ(listed.status, 1) << listed.text;
  const auto errors = nlohmann::json::parse(listed.text);
  ASSERT_EQ(errors.size(), 2u) << listed.text;
  EXPECT_EQ(errors[0]["pointer"], "/pure/gatherv/0/steps/1");
  EXPECT_EQ(errors[1]["pointer"], "/pure/gatherv/0/steps/2");
}

TEST(validate, accepts_reachable_steps) {
  const command_result e = tutti("validate '" SAMPLES "/by_total_bytes.json'");
  EXPECT_EQ(e.status, 0) << e.text;
  EXPECT_TRUE(contains(e.text, ": valid"));
}

}  // namespace
