// SPDX-License-Identifier: Apache-2.0
//
// Tests tutti measure: on threads, on two and four ranks over each MPI, and on nodes that
// TUTTI_NODES pretends. The files must be machines that `tutti simulate` accepts. Wrong calls are
// rejected before anything is measured. unit/machine_fit.cpp tests the fit.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "support/launchers.hpp"
#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

struct measured {
  json report, machine;
  std::string warnings;
};

// Runs a job, and reads its report, its file, and what it printed on standard error.
measured measure(const std::string& command, const std::string& arguments) {
  const scratch_folder here;
  const std::string file = here.path("machine.json"), errors = here.path("errors");
  const command_result r = shell("{ " + command + " '" TUTTI_TOOL "' measure --budget 2s --json --output '" +
                                 file + "' " + arguments + " 2> '" + errors + "'; }");
  EXPECT_EQ(r.status, 0) << r.text << contents(errors);
  measured m{json::parse(r.text), json::parse(contents(file)), contents(errors)};
  EXPECT_EQ(m.report["machine"], m.machine);
  const int ranks = m.report["ranks"];
  const command_result simulated = tutti("simulate allreduce/recursive_doubling --bytes 1K --machine '" +
                                         file + "' --json --ranks " + std::to_string(ranks));
  EXPECT_EQ(simulated.status, 0) << simulated.text;
  EXPECT_GT(json::parse(simulated.text)["seconds"], 0);
  return m;
}

// All times exist, and the summary is that of the lines.
void expect_report(const measured& m, bool within, bool between) {
  std::set<bool> places;
  for (const char* list : {"patterns", "collectives"}) {
    double sum = 0, max = 0;
    ASSERT_FALSE(m.report[list].empty());
    for (const json& line : m.report[list]) {
      EXPECT_GT(line["measured"], 0) << line;
      EXPECT_LT(line["measured"], 10) << line;
      EXPECT_GE(line["predicted"], 0) << line;
      const double error = line["predicted"].get<double>() / line["measured"].get<double>() - 1;
      EXPECT_NEAR(line["error"].get<double>(), error, 1e-9 + 1e-6 * std::abs(error)) << line;
      sum += std::abs(error);
      max = std::max(max, std::abs(error));
      if (line.contains("between_nodes")) places.insert(line["between_nodes"].get<bool>());
    }
    const double lines = static_cast<double>(m.report[list].size());
    EXPECT_NEAR(m.report["errors"][list]["mean"].get<double>(), sum / lines, 1e-6 * sum);
    EXPECT_NEAR(m.report["errors"][list]["max"].get<double>(), max, 1e-6 * max);
  }
  EXPECT_EQ(m.report["bursts"].size(), (within ? 4u : 0u) + (between ? 4u : 0u));
  for (const json& b : m.report["bursts"]) EXPECT_TRUE(b["send"] > 0 && b["receive"] > 0) << b;
  EXPECT_EQ(places.contains(false), within);
  EXPECT_EQ(places.contains(true), between);
  EXPECT_EQ(m.report["collectives"].size(), 12u);
  EXPECT_EQ(m.machine["node"].contains("memory"), within);
  EXPECT_EQ(m.machine.contains("network"), between);
}

TEST(measure, threads) {
  const measured m = measure("", "--engine threads --ranks 2 --name \"a laptop\"");
  expect_report(m, true, false);
  EXPECT_EQ(m.machine["node"]["ranks"], 2);
  // Longer messages are read from the memory of their sender, which waits.
  EXPECT_EQ(m.machine["node"]["messages"]["eager_limit"], "4104B");
  const std::string about = m.machine["about"];
  EXPECT_TRUE(about.starts_with("a laptop: 2 ranks of one node, engine threads, ")) << about;
}

TEST(measure, prints_a_table_and_writes_to_standard_output) {
  const command_result r =
      shell("{ '" TUTTI_TOOL "' measure --engine threads --ranks 2 --budget 1s 2>/dev/null; }");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(json::parse(r.text)["schema"], "tutti/machine/1");
  const scratch_folder here;
  const command_result table =
      tutti("measure --engine threads --ranks 2 --budget 1s --output '" + here.path("") + "'");
  EXPECT_EQ(table.status, 0);
  for (const char* part :
       {"2 ranks of one node, engine threads", "messages within a node", "  ping-pong  ", "  stream of 16  ",
        "local work of all ranks", "  reduce  ", "  allreduce/recursive_doubling  ",
        "error of the patterns: mean ", "machine.json is written"})
    EXPECT_NE(table.text.find(part), table.text.npos) << part << "\n" << table.text;
}

TEST(measure, warns_of_more_ranks_than_cores) {
  const long cores = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  const std::string ranks = std::to_string(cores + 1);
  const measured m = measure("", "--engine threads --ranks " + ranks);
  const std::string warning = "tutti measure: " + ranks + " ranks share " + std::to_string(cores) + " core";
  EXPECT_NE(m.warnings.find(warning), m.warnings.npos) << m.warnings;
  EXPECT_EQ(m.report["ranks_of_host"], cores + 1);
}

TEST(measure, a_node_over_mpi) {
  for (const mpi_launcher& by : mpi_launchers())
    for (const int ranks : {2, 4}) {
      const measured m = measure(by.command + " -n " + std::to_string(ranks), "");
      expect_report(m, true, false);
      EXPECT_EQ(m.machine["node"]["ranks"], ranks) << by.mpi;
      EXPECT_EQ(m.report["ranks"], ranks);
      EXPECT_EQ(m.report["engine"], "mpi");
      EXPECT_NE(m.report["mpi"].get<std::string>().find(by.mpi == "mpich" ? "MPICH" : "Open MPI"),
                std::string::npos)
          << m.report["mpi"];
    }
}

TEST(measure, pretended_nodes_over_mpi) {
  for (const mpi_launcher& by : mpi_launchers()) {
    measured m = measure("TUTTI_NODES=2x1 " + by.command + " -n 2", "");
    expect_report(m, false, true);
    EXPECT_EQ(m.machine["node"]["ranks"], 1);
    EXPECT_EQ(m.machine["network"]["topology"], "flat");
    m = measure("TUTTI_NODES=2x2 " + by.command + " -n 4", "");
    expect_report(m, true, true);
    EXPECT_EQ(m.report["nodes"], 2);
  }
}

// Ends with status 2, one message that contains `text`, and no file.
void expect_rejected(const std::string& command, const std::string& arguments, const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  const command_result r = shell(command + " '" TUTTI_TOOL "' measure " + arguments);
  EXPECT_NE(r.status, 0) << command << arguments;
  const std::size_t at = r.text.find(text);
  EXPECT_NE(at, r.text.npos) << command << arguments << "\n" << r.text;
  EXPECT_EQ(r.text.find("tutti measure: ", at), r.text.npos) << "a second message:\n" << r.text;
  EXPECT_EQ(r.text.find(" %  "), r.text.npos) << "it began to measure:\n" << r.text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(measure, wrong_calls_end_with_2) {
  const std::pair<std::string, const char*> wrong[] = {
      {"--engine threads --ranks 1", "the number of ranks is 1; pass --ranks 2 to 4096"},
      {"--engine threads --ranks 5000", "pass --ranks 2 to 4096"},
      {"--engine fibers --ranks 2", "pass --engine threads"},
      {"--engine thraeds", "there is no engine \"thraeds\""},
      {"--engine mpi", "mpirun -n 4 tutti measure"},
      {"--budget soon", "--budget is a time"},
      {"--budget 0", "--budget is a time"},
      {"--budget nan", "--budget is a time"},
      {"--ouput x", "--ouput"},
      {"--name " + std::string(2000, 'x'), "--name has 2000 bytes"},
      {"--engine threads --ranks 2 --name \"$(printf 'a\\tb')\"", "--name has a control character"},
      {"--engine threads --ranks 2 --output no/such/folder/x.json", "no/such/folder is not a folder"},
      {"--engine threads --ranks 2 --output /dev/null", "/dev/null is not a regular file"}};
  for (const auto& [arguments, text] : wrong) {
    expect_rejected("", arguments, text);
    EXPECT_EQ(tutti("measure " + arguments).status, 2) << arguments;
  }
}

TEST(measure, wrong_calls_give_one_message_over_mpi) {
  for (const mpi_launcher& by : mpi_launchers()) {
    expect_rejected(by.command + " -n 1", "", "one rank has no messages to measure");
    expect_rejected(by.command + " -n 2", "--output no/such/folder/x.json", "no/such/folder is not a folder");
    expect_rejected(by.command + " -n 2", "--budget soon", "--budget is a time");
    expect_rejected(by.command + " -n 2", "--engine threads", "threads are measured without mpirun");
    expect_rejected("TUTTI_NODES=1,2 " + by.command + " -n 3", "",
                    "the nodes have different numbers of ranks");
    expect_rejected("TUTTI_NODES=0:1:0:1 " + by.command + " -n 4", "",
                    "the ranks of a node are not consecutive");
  }
}

}  // namespace
