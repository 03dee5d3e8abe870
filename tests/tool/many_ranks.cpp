// SPDX-License-Identifier: Apache-2.0
//
// Tests `tutti show` and `tutti check` on many ranks: limits of memory and time, one rank compared
// with the same rank among all, drawings, and messages about wrong combinations.
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tool/tool.hpp"

namespace {

using json = nlohmann::json;
using namespace tool_tests;

// Runs it with at most so much address space (MiB) and processor time (seconds). Both limits can
// fail: the first test runs a call that exceeds the memory.
command_result limited(int mebibytes, int seconds, const std::string& arguments) {
  return shell("ulimit -v " + std::to_string(mebibytes * 1024) + "; ulimit -t " + std::to_string(seconds) +
               "; '" + TUTTI_TOOL + "' " + arguments);
}

// A sanitizer reserves terabytes of address space.
constexpr bool limits_apply =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

// Only the output after `text` is not needed, so it is discarded.
command_result limited_status(int mebibytes, int seconds, const std::string& arguments) {
  return limited(mebibytes, seconds, arguments + " > /dev/null");
}

TEST(many_ranks, one_rank_of_many_needs_little_memory) {
  if (!limits_apply) GTEST_SKIP() << "a sanitizer reserves address space";
  EXPECT_NE(limited_status(64, 20, "show allreduce/ring --ranks 256 --json").status, 0);
  for (const char* call :
       {"allreduce/ring", "alltoall/pairwise", "allgather/bruck", "allreduce/recursive_doubling"})
    for (const char* form : {"", " --json", " --svg -"}) {
      const command_result e =
          limited_status(64, 5, std::string("show ") + call + " --ranks 1024 --rank 5" + form);
      EXPECT_EQ(e.status, 0) << call << form << ": " << e.text;
    }
}

TEST(many_ranks, one_rank_of_65536_is_shown_and_checked) {
  if (!limits_apply) GTEST_SKIP() << "a sanitizer reserves address space";
  for (const char* call : {"allreduce/ring", "bcast/knomial", "alltoall/pairwise", "allgatherv/ring",
                           "alltoallv/scattered", "scan/recursive_doubling", "gatherv/knomial"}) {
    for (const char* form : {"", " --json", " --svg -"}) {
      const command_result e =
          limited_status(256, 5, std::string("show ") + call + " --ranks 65536 --rank 40000" + form);
      EXPECT_EQ(e.status, 0) << call << form << ": " << e.text;
    }
    const command_result e = limited(256, 5, std::string("check ") + call + " --ranks 65536 --rank 40000");
    EXPECT_EQ(e.status, 0) << call << ": " << e.text;
    EXPECT_NE(e.text.find("no fault found"), e.text.npos) << call << ": " << e.text;
  }
}

TEST(many_ranks, the_check_of_one_rank_states_how_many_calls_it_checked) {
  const std::string text = tutti("check bcast/knomial --ranks 65536 --rank 5").text;
  EXPECT_NE(text.find(" calls: combinations of root, mode, count, parameters and split; these were drawn"),
            text.npos)
      << text;
  EXPECT_EQ(text.find("proved"), text.npos) << text;
  const json j = json::parse(tutti("check bcast/knomial --ranks 65536 --rank 5 --json").text).at(0);
  EXPECT_EQ(j["checked"]["calls"]["tried"], j["calls"]);
  EXPECT_LT(j["checked"]["calls"]["tried"], j["checked"]["calls"]["of"]);
  EXPECT_NE(
      text.find("checked " + j["calls"].dump() + " of " + j["checked"]["calls"]["of"].dump() + " calls"),
      text.npos)
      << text;
}

TEST(many_ranks, every_algorithm_passes_the_check_of_one_rank) {
  const command_result e = tutti("check --ranks 24,32,48 --rank 5 --json");
  ASSERT_EQ(e.status, 0) << e.text;
  std::size_t messages = 0;
  for (const json& row : json::parse(e.text)) {
    EXPECT_TRUE(row["faults"].empty()) << row["name"];
    EXPECT_GT(row["calls"], 0) << row["name"];
    messages += row["messages"].get<std::size_t>();
  }
  EXPECT_GT(messages, 10000u);
}

// All steps of a rank. Which of them are in one array depends on their places.
json steps_of(const json& rounds) {
  json all = json::array();
  for (const json& together : rounds)
    for (const json& step : together) all.push_back(step);
  return all;
}

// Places whose length messages carry are null for one rank alone.
bool agree(const json& alone, const json& together) {
  if (alone.is_null()) return together.is_number();
  if (alone.type() != together.type() || alone.size() != together.size()) return false;
  if (!alone.is_structured()) return alone == together;
  for (auto a = alone.begin(), b = together.begin(); a != alone.end(); ++a, ++b)
    if (!agree(*a, *b)) return false;
  return true;
}

TEST(many_ranks, one_rank_does_what_it_does_among_all) {
  std::size_t nulls = 0;
  for (const json& a : json::parse(tutti("list --json").text)) {
    if (a["kind"] != "pure") continue;
    const std::string call = "show " + a["name"].get<std::string>() + " --ranks 32 --count 64 --json";
    const command_result all = tutti(call), one = tutti(call + " --rank 11");
    ASSERT_EQ(all.status, 0) << call << ": " << all.text;
    ASSERT_EQ(one.status, 0) << call << ": " << one.text;
    const json together = json::parse(all.text), alone = json::parse(one.text);
    ASSERT_EQ(alone["ranks"].size(), 1u);
    EXPECT_EQ(alone["claims"], together["claims"]) << call;
    EXPECT_TRUE(agree(steps_of(alone["ranks"][0]["rounds"]), steps_of(together["ranks"][11]["rounds"])))
        << call;
    if (one.text.find("\"count\": null") != std::string::npos) {
      ++nulls;
      continue;
    }
    EXPECT_EQ(alone["ranks"][0]["rounds"], together["ranks"][11]["rounds"]) << call;
    for (const char* cost : {"rounds", "bytes", "scratch"})
      EXPECT_LE(alone["of_rank"][cost], together["measured"][cost]) << call;
  }
  EXPECT_GT(nulls, 3u);
  EXPECT_LT(nulls, 30u);
}

// The sums of the drawing are those of the messages in the JSON output.
TEST(many_ranks, many_ranks_are_drawn_as_a_matrix) {
  const command_result strip = tutti("show allreduce/ring --ranks 16 --svg -"),
                       matrix = tutti("show allreduce/ring --ranks 17 --svg -");
  EXPECT_EQ(strip.text.find("receiver"), strip.text.npos);
  EXPECT_NE(matrix.text.find("receiver"), matrix.text.npos);
  for (const char* call :
       {"allreduce/ring --ranks 17", "bcast/knomial --ranks 100", "barrier/dissemination --ranks 64",
        "alltoall/pairwise --ranks 65536 --rank 300", "gather/linear --ranks 1000",
        "gatherv/knomial --ranks 400 --rank 0", "scatter/bine --ranks 300 --root 7"}) {
    const command_result e = tutti(std::string("show ") + call + " --svg -");
    ASSERT_EQ(e.status, 0) << call << ": " << e.text;
    EXPECT_EQ(unbalanced(e.text), "") << call;
    for (const char* part :
         {"<svg xmlns=", "viewBox=\"0 0 ", "<title", "<desc", "<style>", "prefers-color-scheme", "sender"})
      EXPECT_NE(e.text.find(part), e.text.npos) << call << ": " << part;
    for (const char* part : {"nan", "inf\""})
      EXPECT_EQ(e.text.find(part), e.text.npos) << call << ": " << part;
    EXPECT_LT(e.text.size(), 2'000'000u) << call;
  }
  // The ring sends to the next rank only: 17 cells, in the upper diagonal and one corner.
  std::size_t cells = 0;
  const std::size_t path = matrix.text.find("class=\"cell\""), end = matrix.text.find("/>", path);
  for (std::size_t at = path; (at = matrix.text.find('M', at + 1)) < end;) ++cells;
  EXPECT_EQ(cells, 17u);
  EXPECT_NE(matrix.text.find("M1 0h1v1h-1z"), matrix.text.npos);
  EXPECT_NE(matrix.text.find("M0 16h1v1h-1z"), matrix.text.npos);
  EXPECT_NE(matrix.text.find("<title>step 31: 17</title>"), matrix.text.npos);
  EXPECT_NE(matrix.text.find("<title>step 31: 272 B</title>"), matrix.text.npos);
}

TEST(many_ranks, wrong_combinations_end_with_2_and_one_line) {
  const std::pair<const char*, const char*> wrong[] = {
      {"show allreduce/ring --ranks 65536", "or --rank R to show one rank"},
      {"show allreduce/ring --ranks 65537 --rank 1", "pass 1 to 65536"},
      {"show allreduce/ring --ranks 100 --rank 100", "ranks are 0 to 99"},
      {"show allreduce/ring --ranks 17 --svg - --all", "leave it out"},
      {"show allreduce/ring --json --svg -", "pass a file to --svg"},
      {"show alltoallv/pairwise --ranks 65536 --rank 1 --uneven", "no algorithm"},
      {"show alltoallv/scattered --ranks 65536 --rank 1 --uneven", "--ranks up to 4096"},
      {"show neighbor_alltoallv/scattered --ranks 300 --rank 1 --graph random", "pass ring or star"},
      {"check allreduce/ring --ranks 65536", "--rank R checks one rank"},
      {"check allreduce/ring --ranks 65537 --rank 1", "at most 65536"},
      {"check allreduce/ring --ranks 5..64 --rank 7", "whose ranks are 0 to 4"},
      {"check allreduce/ring --ranks 8 --rank -1", "whose ranks are 0 to 7"},
      {"check allreduce/ring --ranks 8 --rank 1 --exhaustive", "leave it out"},
      {"check allreduce/ring --ranks 8 --rank 1 --threads 2", "leave out --threads"},
      {"check allreduce/node_leader --ranks 8 --rank 1", "leave out --rank"},
      {"check allreduce/rnig --ranks 8 --rank 1", "did you mean"}};
  for (const auto& [call, text] : wrong) {
    const command_result e = tutti(call);
    EXPECT_EQ(e.status, 2) << call;
    EXPECT_NE(e.text.find(text), e.text.npos) << call << " prints " << e.text;
    EXPECT_EQ(e.text.find('\n'), e.text.size() - 1) << call << " prints more than a line: " << e.text;
  }
}

}  // namespace
