// SPDX-License-Identifier: Apache-2.0
//
// Tests the times that tutti explain prints for calls on several nodes: those that it predicts, and
// those that tutti tune measured. tutti simulate is the oracle of the predictions.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

const std::string call = "bcast --engine mpi --mpi openmpi --ranks 16 --bytes 1K --nodes ";

json explained(const std::string& variables, const std::string& arguments) {
  const command_result e = shell(variables + " '" TUTTI_TOOL "' explain " + arguments + " --json");
  EXPECT_EQ(e.status, 0) << e.text;
  return json::parse(e.text);
}
double simulated(const std::string& arguments) {
  const command_result e = tutti("simulate " + arguments + " --json");
  EXPECT_EQ(e.status, 0) << e.text;
  return json::parse(e.text)["seconds"];
}

TEST(explain_predicted, own_choice_and_that_of_the_mpi) {
  const json a = explained("", call + "2x8");
  ASSERT_TRUE(a.contains("predicted")) << a;
  const json& p = a["predicted"];
  EXPECT_EQ(p["machine"], "fast-cluster-8");
  EXPECT_EQ(p["ranks_per_node"], 8);
  EXPECT_EQ(p["native"], "Open MPI");
  const std::string at = " --machine fast-cluster-8 --ranks 16 --bytes 1K";
  EXPECT_NEAR(p["native_seconds"], simulated("bcast --like open_mpi" + at), 1e-10);
  EXPECT_NEAR(p["own_seconds"], simulated("bcast/" + p["own"].get<std::string>() + at), 1e-10);
  // Both tools have the trees of a job on this network.
  EXPECT_NEAR(p["own_seconds"], simulated("bcast" + at), 1e-10);
  EXPECT_NEAR(p["gain"], p["native_seconds"].get<double>() / p["own_seconds"].get<double>(), 1e-9);
  const command_result text = tutti("explain " + call + "2x8");
  EXPECT_NE(
      text.text.find("predicted on fast-cluster-8 with 8 ranks per node: " + p["own"].get<std::string>()),
      text.text.npos)
      << text.text;
}

// Not that of the calls without a native collective, which the trees decide apart.
TEST(explain_predicted, a_choice_that_is_not_native_is_the_predicted_one) {
  int compared = 0;
  for (const char* what : {"bcast", "allreduce", "alltoall", "reduce"})
    for (const char* network : {"fast", "slow"})
      for (const char* bytes : {"8", "32K", "1M"}) {
        const json a = explained(std::string("TUTTI_NETWORK=") + network,
                                 std::string(what) + " --engine mpi --ranks 64 --nodes 8x8 --bytes " + bytes +
                                     " --condition oversubscribed=false");
        const json& choice = a["choice"];
        const json& name = choice["composition"].is_null() ? choice["algorithm"] : choice["composition"];
        const std::string chosen = name.get<std::string>().substr(std::string(what).size() + 1);
        if (!a.contains("predicted") || chosen == "native") continue;
        ++compared;
        const std::string own = a["predicted"]["own"];
        EXPECT_EQ(own.substr(0, own.find(':')), chosen) << network << " " << bytes;
      }
  EXPECT_GT(compared, 4);
}

TEST(explain_predicted, the_machine_follows_network_and_nodes) {
  const json slow = explained("TUTTI_NETWORK=slow", call + "2x8")["predicted"];
  EXPECT_EQ(slow["machine"], "slow-cluster-8");
  EXPECT_GT(slow["own_seconds"], explained("TUTTI_NETWORK=fast", call + "2x8")["predicted"]["own_seconds"]);
  EXPECT_EQ(explained("", call + "16x1")["predicted"]["machine"], "fast-cluster-1");
  EXPECT_EQ(explained("", call + "8x2")["predicted"]["machine"], "fast-cluster-8");
  EXPECT_EQ(explained("", call + "4x4")["predicted"]["machine"], "fast-cluster-8");
  EXPECT_EQ(explained("", "bcast --engine mpi --ranks 32 --nodes 2x16 --bytes 1K")["predicted"]["machine"],
            "fast-cluster-8");
  EXPECT_EQ(explained("", "bcast --engine mpi --ranks 64 --nodes 2x32 --bytes 1K")["predicted"]["machine"],
            "fast-cluster-32");
  EXPECT_EQ(explained("", "bcast --engine mpi --ranks 128 --nodes 2x64 --bytes 1K")["predicted"]["machine"],
            "fast-cluster-64");
}

TEST(explain_predicted, nothing_without_several_equal_nodes) {
  EXPECT_FALSE(explained("", call + "1x16").contains("predicted"));
  EXPECT_FALSE(explained("", call + "12,4").contains("predicted"));
  EXPECT_FALSE(explained("TUTTI_PREFER=native", call + "1x16").contains("predicted"));
  EXPECT_FALSE(
      explained("", "bcast --engine threads --ranks 16 --nodes 2x8 --bytes 1K").contains("predicted"));
  EXPECT_EQ(tutti("explain " + call + "1x16").text.find("predicted"), std::string::npos);
}

TEST(explain_predicted, settings_of_the_network_are_validated) {
  for (const auto& [variable, text] : {std::pair{"TUTTI_NETWORK=quick", "the values are fast and slow"},
                                       {"TUTTI_PREFER=mpi", "the only value is native"}}) {
    const command_result e = shell(std::string(variable) + " '" TUTTI_TOOL "' explain " + call + "2x8");
    EXPECT_EQ(e.status, 2) << e.text;
    EXPECT_NE(e.text.find(text), e.text.npos) << e.text;
  }
}

TEST(explain_predicted, what_tune_measured) {
  const scratch_folder here;
  const std::string file = here.file("measured.json", R"({"schema": "tutti/tree/1", "machine": {
    "measured bcast on 16 ranks, 1024 bytes": "knomial 3.10 us, native 4.20 us",
    "measured bcast on 16 ranks, 65536 bytes": "chain 9.00 us, native 12.00 us",
    "measured bcast on 8 ranks, 1024 bytes": "linear 1.00 us, native 2.00 us"},
    "pure": {"bcast": [{"when": {"inter": false}, "use": "knomial"}]}})");
  const std::string trees = "TUTTI_TREES='" + file + "'";
  EXPECT_EQ(explained(trees, call + "2x8")["measured"], "1024 bytes: knomial 3.10 us, native 4.20 us");
  EXPECT_EQ(explained(trees, call + "1x16")["measured"], "1024 bytes: knomial 3.10 us, native 4.20 us");
  const auto of = [&](const std::string& arguments) {
    return explained(trees, "bcast --engine mpi --nodes 2x8 --ranks 16 " + arguments);
  };
  EXPECT_EQ(of("--bytes 32K")["measured"], "65536 bytes: chain 9.00 us, native 12.00 us");
  EXPECT_TRUE(of("--bytes 4K").contains("measured"));
  EXPECT_FALSE(of("--bytes 8").contains("measured"));
  EXPECT_FALSE(of("--bytes 1M").contains("measured"));
  EXPECT_FALSE(explained("", call + "2x8").contains("measured"));
  const command_result text = shell(trees + " '" TUTTI_TOOL "' explain " + call + "2x8");
  EXPECT_NE(text.text.find("measured with 1024 bytes: knomial 3.10 us, native 4.20 us"), text.text.npos)
      << text.text;
}

}  // namespace
