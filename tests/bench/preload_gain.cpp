// SPDX-License-Identifier: Apache-2.0
//
// Tests bench/preload_gain: it measures every case for each MPI, without tutti, with it and with a
// tree. It reports the algorithms that ran, and they are those of the tree.
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace {

using nlohmann::json;
using namespace tests;

command_result bench(const std::string& arguments) { return shell("'" TUTTI_BENCH_PRELOAD_GAIN "' " + arguments); }

// TUTTI_PRELOAD_MPIS: the MPIs with a preload library, separated by blanks.
std::set<std::string> mpis() {
  std::istringstream text(TUTTI_PRELOAD_MPIS);
  std::set<std::string> all;
  for (std::string one; text >> one;) all.insert(one);
  return all;
}

class preload_bench : public testing::Test {
 protected:
  scratch_folder files_;
  std::string few_ =
      "--quick --ranks 2 --collectives allreduce,barrier --sizes 8,4096 --budget-ms 0.5 --tree '" +
      files_.file("tree.json", R"({"schema": "tutti/tree/1", "pure": {"allreduce": [
        {"when": {"inter": false, "native": true}, "by": "bytes", "steps": [
          {"upto": 8, "use": "recursive_doubling"}, {"use": "native"}]}]}})") +
      "' ";
};

TEST_F(preload_bench, measures_all_and_reports_what_ran) {
  const command_result e =
      shell("'" TUTTI_BENCH_PRELOAD_GAIN "' " + few_ + "--json 2> '" + files_.path("messages") + "'; exit $?");
  ASSERT_EQ(e.status, 0) << e.text << contents(files_.path("messages"));
  const json all = json::parse(e.text);
  EXPECT_EQ(all["schema"], "tutti/bench-preload/1");
  EXPECT_EQ(all["ranks"], 2);
  std::set<std::string> measured;
  for (const auto& [mpi, one] : all["mpis"].items()) {
    measured.insert(mpi);
    std::set<std::pair<std::string, int>> cases;
    for (const json& c : one["cases"]) {
      cases.insert({c["collective"].get<std::string>(), c["bytes"].get<int>()});
      for (const char* variant : {"without", "with", "tree", "again"})
        EXPECT_GT(c["us"].value(variant, 0.0), 0) << mpi << c;
      EXPECT_TRUE(c["ran"].contains("with")) << mpi << c;
      if (c["collective"] == "allreduce") {
        EXPECT_EQ(c["ran"]["tree"], c["bytes"] == 8 ? "recursive_doubling" : "in_memory") << mpi << c;
      }
    }
    EXPECT_EQ(cases,
              (std::set<std::pair<std::string, int>>{{"allreduce", 8}, {"allreduce", 4096}, {"barrier", 0}}))
        << mpi;
  }
  EXPECT_EQ(measured, mpis());
}

TEST_F(preload_bench, prints_a_table_for_each) {
  const command_result e = bench(few_);
  EXPECT_EQ(e.status, 0) << e.text;
  for (const std::string& mpi : mpis())
    EXPECT_NE(
        e.text.find((mpi == "openmpi" ? "\nOpen MPI" : "\nMPICH") + std::string(", p = 2: microseconds")),
        e.text.npos)
        << e.text;
  for (const char* part : {"\nallreduce ", "\nbarrier ", "without the library, measured twice", "4 KiB"})
    EXPECT_NE(e.text.find(part), e.text.npos) << part << e.text;
  EXPECT_EQ(e.text.find('?'), e.text.npos) << e.text;
  EXPECT_EQ(bench("--ranks 0").status, 2);
  EXPECT_EQ(bench("--tree no_such_file").status, 2);
  const command_result wrong =
      bench("--quick --collectives barrier --sizes 8 --tree '" + files_.file("wrong.json", "{}") + "'");
  EXPECT_NE(wrong.text.find("the default trees are used"), wrong.text.npos) << wrong.text;
}

}  // namespace
