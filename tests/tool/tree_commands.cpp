// SPDX-License-Identifier: Apache-2.0
//
// Tests the subcommands that read decision trees: validate, tree, diff.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

std::string document(const std::string& members) {
  return "{\"schema\": \"tutti/tree/1\",\n" + members + "}\n";
}
const std::string ring = document(R"( "pure": {"allreduce": [
  {"when": {"inter": false, "commutative": true, "native": false}, "by": "bytes", "steps": [
    {"upto": 1000, "use": "recursive_multiplying", "with": {"k": 8}},
    {"use": "ring"}]}]})");

TEST(tree, of_an_engine_is_one_whole_document) {
  const scratch_folder here;
  for (const std::string engine : {"threads", "fibers", "mpi"}) {
    const command_result e = tutti("tree --default --engine " + engine);
    ASSERT_EQ(e.status, 0);
    const json all = json::parse(e.text);
    EXPECT_EQ(all["schema"], "tutti/tree/1");
    for (const char* half : {"composition", "pure"}) {
      EXPECT_EQ(all[half].size(), 19u) << half;
      for (const json& regions : all[half]) EXPECT_TRUE(regions.is_array() && !regions.empty());
    }
    const std::string file = here.file(engine + ".json", e.text);
    EXPECT_EQ(tutti("validate --whole " + file).status, 0);
    EXPECT_EQ(tutti("tree " + file).text, e.text) << "not in its normal form";
    EXPECT_EQ(tutti("diff " + engine + " " + file).status, 0);
  }
}

TEST(tree, default_ignores_the_environment) {
  const scratch_folder here;
  const std::string file = here.file("ring.json", ring),
                    call = "TUTTI_COLL_SELECTION_JSON_FILE=" + file + " '" + TUTTI_TOOL + "' tree";
  EXPECT_NE(shell(call).text.find("\"k\": 8"), std::string::npos);
  EXPECT_EQ(shell(call + " --default").text, tutti("tree --default").text);
  EXPECT_EQ(shell(call).text, tutti("tree --engine threads " + file).text);
}

TEST(tree, drawings_are_xml) {
  const scratch_folder here;
  const std::string file =
      here.file("site.json", document(R"( "conditions": {"a_torus": "<the ranks> lie on a \"torus\" & more"},
 "composition": {"bcast": [{"when": {"hierarchical": true, "inter": false, "rank_order": true, "a_torus": false},
   "by": "nodes", "steps": [{"upto": 4, "use": "@pure"}, {"use": "node_leader"}]}]},
 "pure": {"bcast": [{"when": {"inter": false, "a_torus": true}, "use": "chain", "with": {"segment": "8K"}}]})"));
  const bool have_xmllint = shell("command -v xmllint").status == 0;
  const std::vector<std::string> calls = {"tree --default",
                                          "tree --default --engine mpi --collective allreduce",
                                          "tree " + file, "tree --engine fibers " + file};
  for (const std::string& call : calls) {
    const command_result e = tutti(call + " --svg -");
    ASSERT_EQ(e.status, 0) << call << ": " << e.text;
    EXPECT_EQ(unbalanced(e.text), "") << call;
    for (const char* part : {"<svg xmlns=", "viewBox=\"0 0 ", "<title", "<desc", "prefers-color-scheme"})
      EXPECT_NE(e.text.find(part), e.text.npos) << call << ": " << part;
    EXPECT_EQ(e.text.find("<script"), e.text.npos);
    EXPECT_EQ(e.text.find("nan"), e.text.npos);
    if (have_xmllint) {
      EXPECT_EQ(shell("'" + std::string(TUTTI_TOOL) + "' " + call + " --svg - | xmllint --noout -").text, "");
    }
  }
  const std::string drawn = tutti("tree " + file + " --svg -").text;
  for (const char* part :
       {">chain, segment = 8192<", ">node_leader<", ">nodes<", "up to 4", "above 4", "a_torus"})
    EXPECT_NE(drawn.find(part), drawn.npos) << part;
  EXPECT_EQ(tutti("tree " + file + " --svg " + here.path("out.svg")).status, 0);
  EXPECT_GT(std::filesystem::file_size(here.path("out.svg")), 1000u);
  EXPECT_EQ(tutti("tree --svg /no/such/folder/file.svg").status, 1);
  EXPECT_EQ(tutti("tree --engine thraeds").status, 2);
  EXPECT_EQ(tutti("tree --svg - --collective allredcue").status, 2);
  EXPECT_EQ(tutti("tree " + here.path("not_there.json")).status, 2);
}

TEST(diff, lists_the_calls_that_are_decided_differently) {
  const scratch_folder here;
  const std::string file = here.file("ring.json", ring);
  const command_result e = tutti("diff threads " + file);
  EXPECT_EQ(e.status, 1);
  for (const char* part :
       {"allreduce\n", "at most 1000 bytes", "the operator commutes", "within one group",
        "threads:", "recursive_doubling (trees/common.json:", "recursive_multiplying, k = 8", "ring.json:4)"})
    EXPECT_NE(e.text.find(part), e.text.npos) << part << " is not in " << e.text;
  EXPECT_EQ(e.text.find("bcast"), e.text.npos) << e.text;
  const json all = json::parse(tutti("diff threads " + file + " --json").text);
  ASSERT_FALSE(all.empty());
  for (const json& d : all) {
    EXPECT_EQ(d["collective"], "allreduce");
    EXPECT_EQ(d["tree"], "pure");
    EXPECT_EQ(d["when"]["commutative"], true);
    EXPECT_EQ(d["when"]["native"], false);
    EXPECT_NE(d["a"], d["b"]);
    EXPECT_EQ(d["b"]["file"], file);
  }
  EXPECT_EQ(all[0]["ranges"]["bytes"]["upto"], 1000);
  EXPECT_EQ(all[0]["b"]["with"]["k"], 8);
  const command_result same = tutti("diff " + file + " " + file);
  EXPECT_EQ(same.status, 0);
  EXPECT_NE(same.text.find("choose the same for every call"), same.text.npos);
  EXPECT_EQ(json::parse(tutti("diff mpi mpi --json").text), json::array());
  // If a file makes no choice, the engine's trees decide. With the trees of another engine the
  // result differs.
  EXPECT_EQ(tutti("diff --engine mpi mpi " + here.file("nothing.json", document(" \"pure\": {}"))).status, 0);
  EXPECT_EQ(tutti("diff --engine mpi threads " + here.path("nothing.json")).status, 1);
}

TEST(diff, of_compositions_and_conditions_of_engines) {
  const scratch_folder here;
  const std::string a = here.file("a.json",
                                  document(R"( "conditions": {"a_torus": "a torus", "mpich": "MPICH"},
 "composition": {"allreduce": [{"when": {"inter": false, "mpich": true}, "use": "reduce_bcast"}]})")),
                    b = here.file("b.json", document(R"( "conditions": {"mpich": "MPICH"},
 "composition": {"allreduce": [{"when": {"inter": false, "mpich": true}, "by": "bytes", "steps": [
   {"upto": "1M", "use": "@pure"}, {"use": "reduce_bcast"}]}]})"));
  const json all = json::parse(tutti("diff --json " + a + " " + b).text);
  ASSERT_EQ(all.size(), 1u) << all;
  EXPECT_EQ(all[0]["tree"], "composition");
  EXPECT_EQ(all[0]["when"], json({{"inter", false}, {"mpich", true}}));
  EXPECT_EQ(all[0]["ranges"], json::parse(R"({"bytes": {"from": 0, "upto": 1048576}})"));
  EXPECT_EQ(all[0]["a"]["use"], "reduce_bcast");
  EXPECT_EQ(all[0]["b"]["use"], "@pure");
}

TEST(diff, wrong_calls_end_with_2) {
  const scratch_folder here;
  const std::string wrong = here.file("wrong.json", document(R"( "pure": {"bcast": [{"use": "knomal"}]})"));
  EXPECT_EQ(tutti("diff threads").status, 2);
  EXPECT_EQ(tutti("diff threads " + here.path("not_there.json")).status, 2);
  const command_result e = tutti("diff threads " + wrong);
  EXPECT_EQ(e.status, 2);
  EXPECT_NE(e.text.find("did you mean \"knomial\"?"), e.text.npos) << e.text;
  EXPECT_EQ(tutti("diff threads mpi --engine thraeds").status, 2);
}

TEST(validate, reports_positions_in_time) {
  const scratch_folder here;
  const std::string partial = here.file("ring.json", ring),
                    wrong = here.file("wrong.json", document(R"( "pure": {
  "bcast": [{"use": "knomal"}]})")),
                    cut = here.file("cut.json", ring.substr(0, ring.size() / 2));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(tutti("validate " + partial).status, 0);
  EXPECT_EQ(tutti("validate --whole " + partial).status, 1);
  EXPECT_EQ(tutti("validate " + cut).status, 1);
  EXPECT_EQ(tutti("validate " + here.path("not_there.json")).status, 2);
  const command_result e = tutti("validate " + partial + " " + wrong);
  EXPECT_EQ(e.status, 1);
  EXPECT_NE(e.text.find("wrong.json:3: /pure/bcast/0/use: bcast has no algorithm \"knomal\" (did you mean"),
            e.text.npos)
      << e.text;
  const json faults = json::parse(tutti("validate --json " + wrong).text);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0]["pointer"], "/pure/bcast/0/use");
  EXPECT_EQ(faults[0]["line"], 3);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));  // six calls
}

TEST(tree_help, has_examples) {
  for (const std::string command : {"tree", "diff", "validate"}) {
    const command_result e = tutti(command + " --help");
    EXPECT_EQ(e.status, 0) << command;
    EXPECT_NE(e.text.find("Examples:\n  tutti " + command), e.text.npos) << e.text;
  }
}

}  // namespace
