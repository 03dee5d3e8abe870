// SPDX-License-Identifier: Apache-2.0
//
// Tests the command line with the toys in its tables: it treats these algorithms, compositions and
// engines like all others.
#include "tool/tool.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using namespace tool_tests;

testing::AssertionResult shows(const command_result& e, int status, std::string_view part) {
  if (e.status == status && e.text.find(part) != e.text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "status " << e.status << ", no \"" << part << "\" in\n" << e.text;
}
command_result explain(const std::string& variables, const std::string& call) {
  return shell(variables + " '" TUTTI_TOOL "' explain " + call + " --engine threads --json");
}

TEST(list, has_both) {
  EXPECT_TRUE(shows(tutti("list allreduce"), 0, "allreduce/everybody"));
  EXPECT_TRUE(
      shows(tutti("list allreduce/everybody --json"), 0, "\"TUTTI_ALLREDUCE_ALGORITHM=everybody:window=4\""));
  EXPECT_TRUE(
      shows(tutti("list scan/own_last --json"), 0, "\"TUTTI_SCAN_COMPOSITION=own_last:segment=65536\""));
}

TEST(list, writes_both_into_the_document) {
  const command_result document = tutti("list --markdown");
  EXPECT_TRUE(shows(document, 0, "\n### allreduce/everybody\n"));
  EXPECT_TRUE(shows(document, 0, "- parameter: `window` = 4, from 1 to 64: messages under way together\n"));
  EXPECT_TRUE(shows(document, 0, "\n### own_last\n"));
}

TEST(show, draws_the_algorithm) {
  EXPECT_TRUE(shows(tutti("show allreduce/everybody --ranks 4"), 0, "allreduce/everybody"));
}

TEST(check, proves_both) {
  EXPECT_TRUE(shows(tutti("check everybody own_last --ranks 1..6"), 0, "2 algorithms"));
  EXPECT_TRUE(shows(tutti("check everybody:window=2 --ranks 5"), 0, "all proved"));
  EXPECT_TRUE(shows(tutti("check everybdoy"), 2, "did you mean \"everybody\"?"));
}

TEST(explain, follows_a_variable) {
  const std::string call = "allreduce --ranks 6 --bytes 64";
  EXPECT_TRUE(shows(explain("TUTTI_ALLREDUCE_ALGORITHM=everybody:window=2", call), 0,
                   "\"algorithm\": \"allreduce/everybody\""));
  EXPECT_TRUE(shows(explain("TUTTI_ALLREDUCE_ALGORITHM=everybody", call + " --op noncommutative"), 0,
                   "it requires an operator that is declared commutative"));
  EXPECT_TRUE(shows(explain("TUTTI_SCAN_COMPOSITION=own_last", "scan --ranks 6 --bytes 64"), 0,
                   "\"composition\": \"scan/own_last\""));
  EXPECT_TRUE(shows(explain("TUTTI_ALLREDUCE_ALGORITHM=everybdoy", call), 2, "everybody"));
}

TEST(explain, rejects_with_a_reason_what_the_tree_does_not_choose) {
  const command_result e = explain("", "allreduce --ranks 6 --bytes 64 --in-place");
  EXPECT_TRUE(shows(e, 0, "allreduce/everybody"));
  EXPECT_TRUE(shows(e, 0, "it does not work in place"));
}

TEST(engine, is_known_to_all_that_ask_for_one) {
  EXPECT_TRUE(shows(tutti("info"), 0, "loopback   one rank, which talks to itself; only if it is named"));
  EXPECT_TRUE(shows(tutti("explain allreduce --ranks 1 --engine loopback"), 0, "engine loopback"));
  EXPECT_TRUE(shows(tutti("explain allreduce --ranks 1 --engine loopbakc"), 2, "did you mean \"loopback\"?"));
  EXPECT_TRUE(shows(tutti("tree --default --engine loopback"), 0, "allreduce"));
  EXPECT_TRUE(
      shows(tutti("diff loopback common.json"), 2, "there are no built-in trees of this name (common, "));
  EXPECT_TRUE(shows(tutti("tune --engine loopback"), 2, "has one rank: there is nothing to choose"));
}

// A document that chooses both, with `use` and `with` as the choice and its parameters.
std::string tree(const std::string& use, const std::string& with) {
  return R"({"schema": "tutti/tree/1",
  "composition": {"scan": [{"when": {"in_place": false}, "use": "own_last", "with": {"segment": "8K"}}]},
  "pure": {"allreduce": [{"when": {"commutative": true, "in_place": false, "inter": false}, "use": ")" +
         use + R"(", "with": )" + with + "}]}}\n";
}

TEST(tree, may_name_both) {
  const scratch_folder folder;
  const std::string file = folder.file("tree.json", tree("everybody", R"({"window": 8})"));
  EXPECT_EQ(tutti("validate '" + file + "'").status, 0) << tutti("validate '" + file + "'").text;
  const std::string variable =
      "TUTTI_COLL_SELECTION_JSON_FILE='" + file + "' TUTTI_COLL_COMPOSITION_JSON_FILE='" + file + "'";
  const command_result pure = explain(variable, "allreduce --ranks 6 --bytes 64");
  EXPECT_TRUE(shows(pure, 0, "\"algorithm\": \"allreduce/everybody\""));
  EXPECT_TRUE(shows(pure, 0, "\"window\": 8"));
  const command_result composed = explain(variable, "scan --ranks 6 --bytes 64");
  EXPECT_TRUE(shows(composed, 0, "\"composition\": \"scan/own_last\""));
  EXPECT_TRUE(shows(composed, 0, "\"segment\": 8192"));
}

TEST(tree, reports_mistakes) {
  const scratch_folder folder;
  const auto validated = [&](const std::string& use, const std::string& with) {
    return tutti("validate '" + folder.file("tree.json", tree(use, with)) + "'");
  };
  EXPECT_TRUE(shows(validated("everybdoy", "{}"), 1, "did you mean \"everybody\"?"));
  EXPECT_TRUE(shows(validated("everybody", R"({"widnow": 8})"), 1, "did you mean \"window\"?"));
  EXPECT_TRUE(shows(validated("everybody", R"({"window": 65})"), 1, "from 1 to 64"));
}

}  // namespace
