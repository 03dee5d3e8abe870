// SPDX-License-Identifier: Apache-2.0
//
// Tests tutti explain: its output, the sources of its values, and the errors of wrong queries.
// agreement.cpp tests that it agrees with what runs.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/contained_text.hpp"
#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

// Runs explain with variables such as "TUTTI_ALLREDUCE_ALGORITHM=ring" before the command.
json explained(const std::string& variables, const std::string& call) {
  const command_result e = shell(variables + " '" TUTTI_TOOL "' explain " + call + " --json");
  if (e.status != 0) throw std::runtime_error(call + ": " + e.text);
  return json::parse(e.text);
}

std::string reason_for(const json& answer, const std::string& algorithm) {
  for (const json& r : answer["rejected"])
    if (r["algorithm"] == algorithm) return r["reason"];
  return "";
}

// A file that lives as long as a test.
class tree_file {
 public:
  explicit tree_file(const std::string& text) { path = where_.file("tree.json", text); }

  std::string path;

 private:
  scratch_folder where_;
};

TEST(explain, defaults) {
  const json a = explained("", "allreduce --ranks 12 --bytes 64K --engine threads");
  EXPECT_EQ(a["choice"]["source"], "default");
  EXPECT_TRUE(a["choice"]["algorithm"].get<std::string>().starts_with("allreduce/"));
  EXPECT_TRUE(a["choice"]["composition"].is_null() && a["choice"]["parameters"].is_object());
  EXPECT_EQ(a["context"]["count"], 8192);
  EXPECT_EQ(a["context"]["quantities"]["bytes"], 65536);
  EXPECT_EQ(a["context"]["conditions"]["power_of_two"], false);
  bool composition = false, pure = false;
  for (const json& step : a["path"]) {
    composition = composition || step["tree"] == "composition";
    pure = pure || step["tree"] == "pure";
    EXPECT_EQ(step["source"], "default");
    EXPECT_TRUE(step["file"].get<std::string>().ends_with(".json") && step["line"].get<int>() > 0) << step;
  }
  EXPECT_TRUE(composition && pure);
  // Every algorithm is either chosen or rejected with a reason.
  const json listed = json::parse(tutti("list allreduce --json").text);
  std::size_t chosen = 0;
  for (const json& one : listed) {
    chosen += one["name"] == a["choice"]["algorithm"];
    if (one["name"] != a["choice"]["algorithm"]) {
      EXPECT_NE(reason_for(a, one["name"]), "") << one["name"];
    }
  }
  EXPECT_EQ(a["rejected"].size(), listed.size() - chosen + (chosen != 0 ? 1 : 0));
}

TEST(explain, arguments_set_the_conditions) {
  const json a = explained("", "reduce --ranks 6 --nodes 3x2 --op noncommutative --root 5 --engine fibers");
  EXPECT_EQ(a["context"]["conditions"]["hierarchical"], true);
  EXPECT_EQ(a["context"]["conditions"]["commutative"], false);
  EXPECT_EQ(a["context"]["conditions"]["builtin_op"], false);
  EXPECT_EQ(a["context"]["conditions"]["native"], true);
  EXPECT_EQ(a["context"]["quantities"]["nodes"], 3);
  const json b = explained("",
                           "allreduce --ranks 4 --engine mpi --mpi mpich --type opaque:24 "
                           "--op commutative --nodes 0:1:0:1");
  EXPECT_EQ(b["context"]["conditions"]["native"], false) << "MPI knows no operator on these";
  EXPECT_EQ(b["context"]["conditions"]["mpich"], true);
  EXPECT_EQ(b["context"]["conditions"]["open_mpi"], false);
  EXPECT_EQ(b["context"]["conditions"]["node_consecutive"], false);
  EXPECT_EQ(explained("TUTTI_NODES=2x2", "barrier --ranks 4")["context"]["from"]["nodes"], "environment");
  EXPECT_EQ(explained("",
                      "barrier --ranks 4 --condition oversubscribed --engine "
                      "threads")["context"]["conditions"]["oversubscribed"],
            true);
}

TEST(explain, the_environment_is_used) {
  const char* const call = "allreduce --ranks 5 --count 100 --engine threads";
  const json obeyed = explained("TUTTI_ALLREDUCE_ALGORITHM=segmented_ring:segment=4096", call);
  EXPECT_EQ(obeyed["choice"]["algorithm"], "allreduce/segmented_ring");
  EXPECT_EQ(obeyed["choice"]["source"], "environment");
  EXPECT_EQ(obeyed["choice"]["parameters"]["segment"], 4096);
  EXPECT_NE(reason_for(obeyed, "allreduce/bine").find("TUTTI_ALLREDUCE_ALGORITHM=segmented_ring"),
            std::string::npos);

  const std::string other = std::string(call) + " --op noncommutative";
  const json unfit = explained("TUTTI_ALLREDUCE_ALGORITHM=ring", other);
  EXPECT_NE(unfit["choice"]["algorithm"], "allreduce/ring");
  EXPECT_EQ(unfit["choice"]["source"], "default");
  EXPECT_NE(reason_for(unfit, "allreduce/ring").find("commutative"), std::string::npos);
  ASSERT_EQ(unfit["overrides"].size(), 1u);
  EXPECT_EQ(unfit["overrides"][0]["source"], "environment");
  EXPECT_FALSE(unfit.contains("refused"));
  const json refused = explained("TUTTI_COLL_FALLBACK=error TUTTI_ALLREDUCE_ALGORITHM=ring", other);
  EXPECT_TRUE(refused["choice"]["algorithm"].is_null());
  EXPECT_NE(refused["refused"].get<std::string>().find("ring"), std::string::npos);
  const json named = explained("TUTTI_ALLREDUCE_ALGORITHM=ring", std::string(call) + " --algorithm swing");
  EXPECT_EQ(named["choice"]["algorithm"], "allreduce/swing");
  EXPECT_EQ(named["choice"]["source"], "call");
}

TEST(explain, files_are_used) {
  const tree_file tree(R"({"schema": "tutti/tree/1", "pure": {"allreduce": [
    {"when": {"commutative": true, "inter": false}, "by": "bytes", "steps": [
      {"upto": 100, "use": "recursive_doubling"}, {"use": "ring"}]}]}})");
  const std::string variable = "TUTTI_COLL_SELECTION_JSON_FILE=" + tree.path;
  const json a = explained(variable, "allreduce --ranks 5 --bytes 1K --engine threads");
  EXPECT_EQ(a["choice"]["algorithm"], "allreduce/ring");
  EXPECT_EQ(a["choice"]["source"], "file");
  EXPECT_NE(a["choice"]["decided_by"].get<std::string>().find(tree.path), std::string::npos);
  bool on_the_path = false;
  for (const json& step : a["path"]) on_the_path = on_the_path || step["file"] == tree.path;
  EXPECT_TRUE(on_the_path);
  const json b = explained(variable, "allreduce --ranks 5 --bytes 1K --engine threads --op noncommutative");
  EXPECT_EQ(b["choice"]["source"], "default");
  // An invalid file leaves the defaults in effect, the same as in the library.
  const command_result wrong =
      shell("TUTTI_COLL_SELECTION_JSON_FILE=/no/such/file '" TUTTI_TOOL "' explain barrier --ranks 2");
  EXPECT_EQ(wrong.status, 0);
  EXPECT_NE(wrong.text.find("/no/such/file"), wrong.text.npos);
  EXPECT_EQ(shell("TUTTI_COLL_STRICT=1 TUTTI_COLL_SELECTION_JSON_FILE=/no/such/file '" TUTTI_TOOL
                  "' explain barrier --ranks 2")
                .status,
            2);
}

TEST(explain, compositions_list_their_inner_calls) {
  const json a = explained("TUTTI_ALLREDUCE_COMPOSITION=reduce_bcast TUTTI_BCAST_ALGORITHM=chain",
                           "allreduce --ranks 6 --count 10 --engine fibers");
  EXPECT_EQ(a["choice"]["composition"], "allreduce/reduce_bcast");
  EXPECT_EQ(a["choice"]["source"], "environment");
  ASSERT_EQ(a["inside"].size(), 2u);
  EXPECT_EQ(a["inside"][0]["collective"], "reduce");
  EXPECT_EQ(a["inside"][0]["ranks"], 6);
  EXPECT_EQ(a["inside"][1]["algorithm"], "bcast/chain");
  EXPECT_EQ(a["inside"][1]["source"], "environment");
  const json nodes =
      explained("", "allreduce --ranks 6 --nodes 3x2 --composition node_leader --engine fibers");
  bool leaders = false;
  for (const json& one : nodes["inside"]) leaders = leaders || one["group"] == json::array({0, 2, 4});
  EXPECT_TRUE(leaders) << nodes["inside"];
  const json flat = explained("", "allreduce --ranks 6 --composition node_leader --engine fibers");
  EXPECT_EQ(nodes["choice"]["source"], "call");
  EXPECT_TRUE(flat["choice"]["composition"].is_string() || !flat["overrides"].empty());
  const command_result text = tutti("explain allreduce --ranks 6 --nodes 3x2 --composition node_leader");
  for (const char* part : {"composition tree", "pure tree", "choice: allreduce/node_leader", "inner calls"})
    EXPECT_NE(text.text.find(part), text.text.npos) << part << "\n" << text.text;
}

// Each transport, in both formats.
TEST(explain, names_the_transport) {
  const std::string mpi = " --engine mpi --mpi openmpi ", native = mpi + "--algorithm native ";
  const std::string with_cores = " --condition oversubscribed=false", without = " --condition oversubscribed";
  struct {
    std::string variables, call;
    const char* transport;
  } const cases[] = {
      {"", "allreduce --ranks 4 --bytes 64 --engine threads", "memory of the process"},
      {"", "allreduce --ranks 4 --bytes 64 --engine fibers --algorithm ring", "memory of the process"},
      {"", "allreduce --ranks 1 --engine threads", "none, because there is one rank"},
      {"", "barrier --ranks 4" + native, "node memory, 1 round"},
      {"", "allreduce --ranks 4 --bytes 64" + native, "node memory, 1 round of 64 bytes"},
      {"", "allreduce --ranks 4 --bytes 1M" + native, "node memory, 32 rounds of up to 65536 bytes"},
      {"", "alltoall --ranks 4 --bytes 64K" + native + without, "node memory, by address"},
      {"", "alltoall --ranks 4 --bytes 64K --in-place" + native + without,
       "node memory, 4 rounds of up to 65536 bytes"},
      {"", "alltoall --ranks 4 --bytes 64K" + native + with_cores,
       "node memory, 4 rounds of up to 65536 bytes"},
      {"", "alltoall --ranks 4 --bytes 64K --condition cross_memory=false" + native + without,
       "node memory, 4 rounds of up to 65536 bytes"},
      {"TUTTI_SHM=cells", "alltoall --ranks 4 --bytes 64K" + native + without,
       "node memory, 4 rounds of up to 65536 bytes"},
      {"", "allgatherv --ranks 2 --bytes 4M" + native + with_cores,
       "node memory, 64 rounds of up to 65536 bytes, or by address, as measured"},
      {"TUTTI_SHM=off", "allreduce --ranks 4 --bytes 64" + native, "the MPI's own collective"},
      {"TUTTI_NODES=1x4", "allreduce --ranks 4 --bytes 64" + native, "the MPI's own collective"},
      {"", "allreduce --ranks 4 --bytes 64 --condition node_memory=false" + native,
       "the MPI's own collective"},
      {"", "allreduce --ranks 4 --bytes 64 --nodes 2x2" + native, "the MPI's own collective"},
      {"", "gatherv --ranks 4 --bytes 64" + native, "node memory, 1 round, and channels for long blocks"},
      {"", "allreduce --ranks 4 --algorithm ring" + mpi, "channels in node memory"},
      {"", "allreduce --ranks 4 --algorithm ring --nodes 2x2" + mpi,
       "channels in node memory, and MPI messages between nodes"},
      {"", "allreduce --ranks 4 --algorithm ring --nodes 4x1" + mpi, "MPI messages"},
      {"", "allreduce --ranks 4 --group ring" + mpi, "channels in node memory"},
      {"TUTTI_SHM=off", "allreduce --ranks 4 --algorithm ring" + mpi, "MPI messages"},
      {"TUTTI_NODES=2x2", "allreduce --ranks 4 --algorithm ring" + mpi, "MPI messages"},
      {"", "allreduce --ranks 4 --composition node_leader --nodes 2x2" + mpi,
       "channels in node memory; MPI messages"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.variables + " " + one.call);
    EXPECT_EQ(explained(one.variables, one.call)["choice"]["transport"], one.transport);
    const command_result text = shell(one.variables + " '" TUTTI_TOOL "' explain " + one.call);
    EXPECT_TRUE(contains(text.text, "\n  transport: " + std::string(one.transport) + "\n")) << text.text;
  }
}

TEST(explain, names_the_transports_of_inner_calls) {
  const std::string call =
      "allreduce --ranks 4 --composition node_leader --nodes 2x2 --engine mpi --mpi openmpi";
  const json inside = explained("", call)["inside"];
  ASSERT_FALSE(inside.empty());
  for (const json& one : inside)
    EXPECT_EQ(one["transport"],
              one["group"] == json::array({0, 1}) ? "channels in node memory" : "MPI messages")
        << one;
  EXPECT_TRUE(contains(tutti("explain " + call).text, "decided by  transport\n"));
  const json refused = explained("TUTTI_COLL_FALLBACK=error TUTTI_ALLREDUCE_ALGORITHM=ring",
                                 "allreduce --ranks 5 --op noncommutative --engine threads");
  EXPECT_TRUE(refused["choice"]["transport"].is_null());
}

TEST(explain, decides_by_cross_memory) {
  const tree_file tree(R"({"schema": "tutti/tree/1",
    "conditions": {"cross_memory": "the ranks of a node may read one another"},
    "pure": {"bcast": [{"when": {"inter": false, "cross_memory": true}, "use": "linear"},
                       {"when": {"inter": false, "cross_memory": false}, "use": "chain"}]}})");
  const std::string file = "TUTTI_COLL_SELECTION_JSON_FILE=" + tree.path;
  const auto chosen = [&](const std::string& variables, const std::string& options) {
    return explained(file + " " + variables,
                     "bcast --ranks 4 --engine mpi --mpi openmpi" + options)["choice"]["algorithm"];
  };
  EXPECT_EQ(chosen("", ""), "bcast/linear");
  EXPECT_EQ(chosen("", " --nodes 2x2"), "bcast/linear");
  EXPECT_EQ(chosen("", " --nodes 4x1"), "bcast/chain");
  EXPECT_EQ(chosen("", " --condition cross_memory=false"), "bcast/chain");
  for (const char* setting : {"TUTTI_SHM=cells", "TUTTI_SHM=off", "TUTTI_NODES=2x2"})
    EXPECT_EQ(chosen(setting, ""), "bcast/chain") << setting;
  const command_result wrong =
      shell("TUTTI_SHM=some '" TUTTI_TOOL "' explain barrier --ranks 2 --engine mpi");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(contains(wrong.text, "the values are off, cells, copy and heap")) << wrong.text;
}

TEST(explain, batches) {
  const tree_file batch(
      "# calls\nallreduce --ranks 4 --count 10\n\nTUTTI_BCAST_ALGORITHM=chain bcast --ranks 3\n"
      "bcast --ranks 3 --engine fibers\n");
  const json all = json::parse(tutti("explain --batch " + batch.path + " --json").text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1]["choice"]["algorithm"], "bcast/chain");
  EXPECT_EQ(all[2]["choice"]["source"], "default") << "the variable held for one line";
  const tree_file wrong("allreduce --ranks 4\nallreduce --rank 4\n");
  const command_result e = tutti("explain --batch " + wrong.path);
  EXPECT_EQ(e.status, 2);
  EXPECT_NE(e.text.find(wrong.path + ":2: "), e.text.npos) << e.text;
}

TEST(explain, wrong_queries_end_with_2) {
  const std::pair<const char*, const char*> wrong[] = {
      {"alreduce --ranks 4", "did you mean \"allreduce\"?"},
      {"allreduce --ranks 4 --type doble", "did you mean \"double\"?"},
      {"allreduce --ranks 4 --op som", "did you mean \"sum\"?"},
      {"allreduce --ranks 4 --engine thread", "did you mean \"threads\"?"},
      {"allreduce --ranks 4 --engine mpi --mpi openmp", "did you mean \"openmpi\"?"},
      {"allreduce --ranks 4 --engine fibers --mpi mpich", "--engine mpi"},
      {"allreduce --ranks 4 --nodes 3x2", "--nodes"},
      {"allreduce --ranks 4 --bytes 10", "whole number"},
      {"allreduce --ranks 4 --bytes many", "not a number"},
      {"allreduce --ranks 4 --bytes 8 --count 1", "one of them"},
      {"allreduce --ranks 4 --op bit_and", "not an operator on double"},
      {"allreduce --ranks 4 --op sum --type opaque:8", "not an operator"},
      {"allgather --ranks 4 --op sum", "has no operator"},
      {"allreduce --ranks 4 --root 1", "no root"},
      {"bcast --ranks 4 --root 4", "ranks are 0 to 3"},
      {"scan --ranks 4 --inter", "two groups"},
      {"allreduce --ranks 1 --inter", "two ranks"},
      {"barrier --ranks 4 --count 1", "no elements"},
      {"bcast --ranks 4 --in-place", "in place"},
      {"allreduce --ranks 4 --algorithm rnig", "ring"},
      {"allreduce --ranks 4 --composition reduce_bcst", "reduce_bcast"},
      {"allreduce --ranks 4 --condition oversubscribd", "did you mean \"oversubscribed\"?"},
      {"", "name a collective"},
      {"--batch /no/such/file", "cannot be read"},
      {"allreduce --batch /no/such/file", "name no collective"}};
  for (const auto& [call, text] : wrong) {
    const command_result e = tutti(std::string("explain ") + call);
    EXPECT_EQ(e.status, 2) << call;
    EXPECT_NE(e.text.find(text), e.text.npos) << call << " prints " << e.text;
  }
  const command_result many = tutti("explain allreduce --engine threads --ranks 5000");
  EXPECT_EQ(many.status, 2);
  EXPECT_TRUE(contains(many.text, "the engine threads has at most 4096 ranks"));
  EXPECT_EQ(tutti("explain allreduce --ranks 0").status, 2);
  EXPECT_EQ(shell("TUTTI_COLL_FALLBACK=maybe '" TUTTI_TOOL "' explain barrier").status, 2);
  EXPECT_EQ(shell("TUTTI_ALLREDUCE_ALGORITHM=rnig '" TUTTI_TOOL "' explain barrier").status, 2);
}

}  // namespace
