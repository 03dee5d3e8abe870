// SPDX-License-Identifier: Apache-2.0
//
// Tests `tutti tune --machine` as a user sees it: the document, its use, interrupted runs, and what
// it rejects. unit/simulated_campaign.cpp tests which choices it makes.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

const std::string small = "tune --machine flat --ranks 4,8 --quick --collectives bcast,allreduce ";

TEST(tune_machine, writes_trees_that_are_legal_and_used) {
  const scratch_folder here;
  const std::string file = here.path("flat.json");
  const command_result done = tutti(small + "--output '" + file + "'");
  ASSERT_EQ(done.status, 0) << done.text;
  for (const char* part :
       {"simulations in", "100 %", "collective", "bcast ", "allreduce ", "flat.json is written"})
    EXPECT_NE(done.text.find(part), done.text.npos) << part << "\n" << done.text;
  EXPECT_FALSE(std::filesystem::exists(file + ".times"));
  const command_result valid = tutti("validate '" + file + "'");
  EXPECT_EQ(valid.status, 0) << valid.text;
  const json document = json::parse(contents(file));
  EXPECT_EQ(document["machine"]["simulated"], "flat");
  EXPECT_EQ(document["machine"]["ranks"], "4,8");
  EXPECT_EQ(document["machine"]["command"],
            "tutti tune --machine flat --ranks 4,8 --quick --collectives bcast,allreduce");
  // A bcast of 1 MiB to 8 nodes is in the trees, if the ranks have a core each. One to 16 nodes is
  // not, and neither is one of one node.
  const auto chosen = [&](const std::string& ranks_and_nodes) {
    const command_result r = shell(
        "TUTTI_TREES='" + file +
        "' '" TUTTI_TOOL "' explain bcast --engine mpi --condition oversubscribed=false --bytes 1M --json " +
        ranks_and_nodes);
    EXPECT_EQ(r.status, 0) << r.text;
    return json::parse(r.text)["choice"];
  };
  const json now = chosen("--ranks 8 --nodes 8x1");
  EXPECT_NE(now["algorithm"], "bcast/native");
  EXPECT_EQ(now["source"], "file");
  EXPECT_EQ(chosen("--ranks 16 --nodes 16x1")["algorithm"], "bcast/native");
  EXPECT_EQ(chosen("--ranks 8 --nodes 1x8")["algorithm"], "bcast/native");
}

TEST(tune_machine, trees_over_one_mpi_hold_only_there) {
  const scratch_folder here;
  const std::string file = here.path("flat.json");
  const command_result done = tutti(small + "--native open_mpi --output '" + file + "'");
  ASSERT_EQ(done.status, 0) << done.text;
  EXPECT_EQ(json::parse(contents(file))["machine"]["command"],
            "tutti tune --machine flat --ranks 4,8 --quick --collectives bcast,allreduce --native open_mpi");
  const auto chosen = [&](const char* mpi) {
    const command_result r =
        shell("TUTTI_TREES='" + file +
              "' TUTTI_PREFER=native '" TUTTI_TOOL
              "' explain bcast --engine mpi --condition oversubscribed=false --bytes 1M --json "
              "--ranks 8 --nodes 8x1 --mpi " +
              std::string(mpi));
    EXPECT_EQ(r.status, 0) << r.text;
    return json::parse(r.text)["choice"]["algorithm"];
  };
  EXPECT_NE(chosen("openmpi"), "bcast/native");
  EXPECT_EQ(chosen("mpich"), "bcast/native");
}

TEST(tune_machine, json) {
  const command_result r = shell("('" TUTTI_TOOL "' " + small + "--json 2>/dev/null)");
  ASSERT_EQ(r.status, 0) << r.text;
  const json report = json::parse(r.text);
  EXPECT_EQ(report["machines"], json({"flat"}));
  EXPECT_GT(report["simulated"], 0);
  EXPECT_EQ(report["known"], 0);
  EXPECT_EQ(report["cells"].size(), 2u * 2 * 4);  // collectives, numbers of ranks, sizes
  for (const json& cell : report["cells"]) {
    EXPECT_EQ(cell["nodes"], cell["ranks"]);
    for (const json& choice : cell["pure"]) EXPECT_GT(choice["us"], 0) << cell;
  }
  EXPECT_FALSE(report["changes"].empty());
  for (const json& change : report["changes"]) {
    EXPECT_LT(change["us_tuned"], change["us_now"]) << change;
  }
  EXPECT_EQ(report["document"]["schema"], "tutti/tree/1");
  // Without --json the document itself goes to standard output, and the report to the other stream.
  const command_result plain = shell("('" TUTTI_TOOL "' " + small + "2>/dev/null)");
  EXPECT_EQ(json::parse(plain.text), report["document"]);
}

std::size_t lines_of(const std::string& file) {
  std::ifstream in(file);
  std::size_t n = 0;
  for (std::string line; std::getline(in, line);) ++n;
  return n;
}

// Runs the tool and sends it SIGINT when it has written some times. Returns whether that ended it.
bool is_interrupted(std::vector<std::string> arguments, const std::string& times) {
  const pid_t tool = fork();
  if (tool == 0) {
    std::vector<char*> all;
    arguments.insert(arguments.begin(), TUTTI_TOOL);
    for (std::string& one : arguments) all.push_back(one.data());
    all.push_back(nullptr);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    execv(all[0], all.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(tool, &status, WNOHANG) == 0) {
    if (lines_of(times) > 40) {
      kill(tool, SIGINT);
      waitpid(tool, &status, 0);
      break;
    }
    usleep(500);
  }
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
}

// A run that SIGINT ends leaves its times. The same command goes on there, and its result is that
// of a run without an interruption. The times are not used by another command: the inner calls of a
// composition depend on all that is simulated.
TEST(tune_machine, goes_on_after_an_interruption) {
  const scratch_folder here;
  const std::string whole = here.path("whole.json"), parts = here.path("parts.json"),
                    times = parts + ".times";
  const std::string ranks = "16..64", collectives = "bcast,allreduce,allgather,alltoall";
  const std::string call = "tune --machine eight-per-node --ranks " + ranks + " --quick --collectives ";
  ASSERT_EQ(tutti(call + collectives + " --output '" + whole + "'").status, 0);
  ASSERT_TRUE(is_interrupted({"tune", "--machine", "eight-per-node", "--ranks", ranks, "--quick",
                              "--collectives", collectives, "--output", parts},
                             times));
  ASSERT_FALSE(std::filesystem::exists(parts));
  const std::string left = contents(times);
  // The last line of a killed run may be incomplete.
  std::ofstream(times, std::ios::app) << "eight-per-node 16 bcast 8 knomial\t1.2";
  const command_result rest = tutti(call + collectives + " --output '" + parts + "'");
  EXPECT_EQ(rest.status, 0) << rest.text;
  EXPECT_NE(rest.text.find(" times are known from an interrupted run"), rest.text.npos) << rest.text;
  EXPECT_NE(rest.text.find(" from an interrupted run;"), rest.text.npos) << rest.text;
  EXPECT_EQ(contents(parts), contents(whole));
  EXPECT_FALSE(std::filesystem::exists(times));

  std::ofstream(times) << left;
  const command_result other = tutti(call + "bcast --output '" + parts + "'");
  EXPECT_EQ(other.status, 0) << other.text;
  EXPECT_EQ(other.text.find("an interrupted run"), other.text.npos) << other.text;
}

TEST(tune_machine, names_the_numbers_of_ranks_that_it_leaves_out) {
  const std::string call =
      "tune --machine eight-per-node --ranks 8,12,16,20 --quick --sizes 8 --collectives bcast";
  const command_result as_json = shell("('" TUTTI_TOOL "' " + call + " --json 2>/dev/null)");
  ASSERT_EQ(as_json.status, 0) << as_json.text;
  EXPECT_EQ(
      json::parse(as_json.text)["left_out"],
      json::parse(
          R"([{"machine": "eight-per-node", "ranks": 12}, {"machine": "eight-per-node", "ranks": 20}])"));
  const command_result as_text = tutti(call);
  EXPECT_EQ(as_text.status, 0) << as_text.text;
  const char* line =
      "not simulated on eight-per-node: 12, 20 ranks, which do not fill whole nodes or sockets\n";
  EXPECT_NE(as_text.text.find(line), as_text.text.npos) << as_text.text;
}

TEST(tune_machine, wrong_calls_end_with_2_before_anything_is_simulated) {
  const scratch_folder here;
  const std::string broken =
      here.file("broken.json", R"({"schema": "tutti/machine/1", "node": {"ranks": "two"}})");
  const std::pair<std::string, const char*> wrong[] = {
      {"--machine flat", "--machine needs --ranks, such as 64 or 2..1024"},
      {"--machine flat --ranks 5..3", "--ranks is 5..3, which contains no number"},
      {"--machine flat --ranks 1", "a number from 2 to 4096"},
      {"--machine flat --ranks 5000", "\"5000\" is none of them"},
      {"--machine flat --ranks x", "\"x\" is none of them"},
      {"--machine flat --ranks 4,,8", "\"\" is none of them"},
      {"--machine flat --ranks 2..", "\"\" is none of them"},
      {"--machine flta --ranks 4", "there is no machine \"flta\""},
      {"--machine '" + broken + "' --ranks 4", "broken.json:1: /node/ranks"},
      {"--machine laptop --ranks 128", "laptop has 16 ranks; --ranks asks for 128"},
      {"--machine fast-cluster-1,fast-cluster-8,fast-cluster-1 --ranks 4",
       "--machine names fast-cluster-1 twice"},
      {"--machine flat --ranks 4 --engine mpi", "--engine does not go with --machine"},
      {"--machine flat --ranks 4 --budget 5s", "--budget does not go with --machine"},
      {"--machine flat --ranks 4 --onto x.json", "--onto does not go with --machine"},
      {"--machine flat --ranks 4 --only", "--only does not go with --machine"},
      {"--machine flat --ranks 4 --native openmpi",
       "the choices of an MPI \"openmpi\" are not known; did you mean \"open_mpi\"?"},
      {"--native mpich", "--native goes with --machine"},
      {"--machine flat --ranks 4 --collectives bcats",
       "there is no collective \"bcats\"; did you mean \"bcast\"?"},
      {"--machine flat --ranks 4 --output '" + here.path("no/x.json") + "'", "is not a folder"},
      {"--machine flat --ranks 4 --sizes 4", "not in range 8 to"}};
  for (const auto& [arguments, text] : wrong) {
    const command_result e = tutti("tune " + arguments);
    EXPECT_EQ(e.status, 2) << arguments << "\n" << e.text;
    EXPECT_NE(e.text.find(text), e.text.npos) << arguments << "\n" << e.text;
    EXPECT_EQ(e.text.find(" %  "), e.text.npos) << "it has begun: " << e.text;
    // CLI11 adds a line that points to --help.
    EXPECT_LE(std::count(e.text.begin(), e.text.end(), '\n'), 2) << e.text;
  }
}

// Otherwise the trees would depend on the memory of the computer.
TEST(tune_machine, ends_if_memory_is_missing_for_a_simulation) {
  const scratch_folder here;
  const std::string file = here.path("tuned.json");
  const std::string call = std::string("'") + TUTTI_TOOL +
                           "' tune --machine fast-cluster-8 --ranks 2048 --quick --sizes 8 --collectives "
                           "reduce_scatter --output '" +
                           file + "'";
  const std::string limited = "ulimit -v 250000; ";
  if (shell(limited + "'" + TUTTI_TOOL + "' --version").status != 0) return;  // as with a sanitizer
  const command_result r = shell(limited + call);
  EXPECT_EQ(r.status, 2) << r.text;
  EXPECT_NE(r.text.find("tutti tune: the simulation of 2048 ranks needs about"), r.text.npos) << r.text;
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::exists(file + ".times"));
  const command_result again = shell(call);
  EXPECT_EQ(again.status, 0) << again.text;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(tune_machine, machines_of_one_network_give_one_document) {
  const command_result r =
      shell("('" TUTTI_TOOL
            "' tune --machine slow-cluster-1,slow-cluster-8 --ranks 8,16 --quick --collectives bcast "
            "--json 2>/dev/null)");
  ASSERT_EQ(r.status, 0) << r.text;
  const json report = json::parse(r.text);
  EXPECT_EQ(report["document"]["machine"]["simulated"], "slow-cluster-1,slow-cluster-8");
  std::vector<std::pair<int, int>> shapes;
  for (const json& cell : report["cells"]) shapes.emplace_back(cell["ranks"], cell["nodes"]);
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  EXPECT_EQ(shapes, (std::vector<std::pair<int, int>>{{8, 1}, {8, 8}, {16, 2}, {16, 16}}));
}

}  // namespace
