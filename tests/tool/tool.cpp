// SPDX-License-Identifier: Apache-2.0
//
// Tests the command line as a user sees it: its output and its exit status.
#include "tool.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;
using namespace tool_tests;

json listed(const char* kind = "pure") {
  static const json all = json::parse(tutti("list --json").text);
  json some = json::array();
  for (const json& one : all)
    if (one["kind"] == kind) some.push_back(one);
  return some;
}

bool demands(const json& algorithm, const char* restriction) {
  for (const auto& r : algorithm["restrictions"])
    if (r == restriction) return true;
  return false;
}

// Returns a number of ranks that the algorithm serves.
std::string ranks_for(const json& algorithm) {
  const bool restricted = demands(algorithm, "power_of_two") || demands(algorithm, "even_ranks") ||
                          demands(algorithm, "equal_regions");
  return restricted ? "8" : "5";
}

TEST(list, every_algorithm_has_all_fields) {
  ASSERT_FALSE(listed().empty());
  std::set<std::string> names;
  for (const json& a : listed()) {
    const std::string name = a["name"];
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
    EXPECT_FALSE(a["environment"].get<std::string>().find("_ALGORITHM=") == std::string::npos) << name;
    for (const char* text : {"source", "idea", "rounds", "bytes", "scratch", "good_for"})
      EXPECT_FALSE(a[text].get<std::string>().empty()) << name << ": " << text;
    EXPECT_TRUE(a["restrictions"].is_array());
    for (const json& k : a["parameters"]) {
      EXPECT_FALSE(k["what"].get<std::string>().empty()) << name;
      EXPECT_LE(k["min"], k["default"]) << name << ": " << k["name"];
      EXPECT_LE(k["default"], k["max"]) << name << ": " << k["name"];
    }
  }
}

TEST(list, every_composition_lists_its_calls) {
  const json all = listed("composition");
  ASSERT_FALSE(all.empty());
  for (const json& c : all) {
    const std::string name = c["name"];
    for (const char* text : {"source", "idea", "calls", "good_for"})
      EXPECT_FALSE(c[text].get<std::string>().empty()) << name << ": " << text;
    EXPECT_TRUE(c["restrictions"].is_array() && c["parameters"].is_array()) << name;
  }
  const json one = json::parse(tutti("list allreduce/reduce_bcast --json").text);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["kind"], "composition");
  EXPECT_EQ(one[0]["environment"], "TUTTI_ALLREDUCE_COMPOSITION=reduce_bcast");
  const command_result of_bcast = tutti("list bcast"), in_full = tutti("list allreduce/reduce_bcast --long");
  EXPECT_NE(of_bcast.text.find("bcast/pipeline"), of_bcast.text.npos);
  EXPECT_NE(of_bcast.text.find(" compositions"), of_bcast.text.npos);
  for (const char* part : {"\n  calls", "\n  restrictions", "TUTTI_ALLREDUCE_COMPOSITION=reduce_bcast"})
    EXPECT_NE(in_full.text.find(part), in_full.text.npos) << part << in_full.text;
  EXPECT_NE(tutti("list allreduce/reduce_bcst").text.find("did you mean \"allreduce/reduce_bcast\""),
            std::string::npos);
  const command_result with_variable = tutti("list bcast/chain --long");
  EXPECT_NE(with_variable.text.find("TUTTI_BCAST_ALGORITHM=chain:segment="), with_variable.text.npos);
  EXPECT_NE(tutti("list bcast/across --long").text.find("TUTTI_BCAST_INTER_ALGORITHM=across"),
            std::string::npos);
}

TEST(list, one_collective_or_one_algorithm) {
  const command_result some = tutti("list allreduce");
  EXPECT_EQ(some.status, 0);
  EXPECT_NE(some.text.find("allreduce/ring"), some.text.npos);
  EXPECT_EQ(some.text.find("allgather/"), some.text.npos);
  const json one = json::parse(tutti("list allreduce/ring --json").text);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["restrictions"], json::array({"commutative"}));
  const command_result all_of_it = tutti("list allreduce/ring --long");
  EXPECT_EQ(all_of_it.status, 0);
  for (const char* part : {"source", "restrictions", "rounds", "bytes", "scratch", "good for"})
    EXPECT_NE(all_of_it.text.find(std::string("\n  ") + part), all_of_it.text.npos) << part;
}

TEST(launch, all_promised_names_exist) {
  const std::map<std::string, std::vector<const char*>> promised = {
      {"barrier", {"dissemination", "recursive_exchange", "tree"}},
      {"bcast",
       {"linear", "knomial", "chain", "binary_pipeline", "scatter_recursive_doubling", "scatter_ring",
        "circulant", "bine"}},
      {"reduce", {"linear", "knomial", "chain", "in_order_binary", "rabenseifner", "circulant", "bine"}},
      {"allreduce",
       {"recursive_doubling", "recursive_multiplying", "ring", "segmented_ring", "rabenseifner",
        "reduce_scatter_allgather", "double_tree", "swing", "bine", "dual_root"}},
      {"allgather",
       {"linear", "ring", "recursive_doubling", "bruck", "neighbor_exchange", "sparbit", "locality_bruck",
        "pat", "bine"}},
      {"allgatherv", {"ring", "bruck", "circulant"}},
      {"alltoall", {"scattered", "pairwise", "bruck", "in_place_exchange"}},
      {"alltoallv", {"scattered", "in_place_pairwise", "padded_bruck", "two_phase_bruck", "tuna"}},
      {"alltoallw", {"scattered", "in_place_pairwise"}},
      {"gather", {"linear", "knomial", "bine"}},
      {"gatherv", {"linear", "knomial"}},
      {"scatter", {"linear", "knomial", "bine"}},
      {"scatterv", {"linear", "knomial"}},
      {"reduce_scatter",
       {"pairwise", "recursive_halving", "ring", "recursive_doubling", "butterfly", "pat", "bine"}},
      {"reduce_scatter_block",
       {"pairwise", "recursive_halving", "ring", "recursive_doubling", "butterfly", "pat", "bine"}},
      {"scan", {"linear", "recursive_doubling"}},
      {"exscan", {"linear", "recursive_doubling"}},
      {"neighbor_alltoallv", {"scattered"}},
      {"neighbor_allgatherv", {"scattered"}}};
  std::set<std::string> names;
  for (const json& a : listed()) names.insert(a["name"].get<std::string>());
  std::size_t count = 0;
  for (const auto& [what, all] : promised)
    for (const char* name : all) {
      ++count;
      EXPECT_TRUE(names.count(what + "/" + name) == 1) << what << "/" << name << " is missing";
    }
  EXPECT_EQ(count, 81u);
}

// Each rank receives the messages that another rank sends it, in the same order.
TEST(show, every_send_matches_a_recv) {
  for (const json& a : listed()) {
    const std::string name = a["name"], ranks = ranks_for(a);
    const command_result e = tutti("show " + name + " --ranks " + ranks + " --json");
    ASSERT_EQ(e.status, 0) << name << ": " << e.text;
    const json shown = json::parse(e.text);
    EXPECT_EQ(shown["name"], name);
    EXPECT_EQ(shown["ranks"].size(), std::stoul(ranks));
    EXPECT_TRUE(shown["parameters"].is_object());
    for (const char* what : {"rounds", "bytes", "scratch"})
      EXPECT_TRUE(shown["claims"][what].is_number() && shown["measured"][what].is_number()) << name;
    std::map<std::pair<int, int>, std::vector<json>> sent, received;
    std::size_t all = 0;
    for (const json& r : shown["ranks"])
      for (const json& round : r["rounds"]) {
        EXPECT_FALSE(round.empty()) << name;
        for (const json& s : round) {
          const int rank = r["rank"];
          const std::string op = s["op"];
          if (s.contains("to")) sent[{rank, s["to"]}].push_back(s["source"]["count"]), ++all;
          if (s.contains("from")) received[{s["from"], rank}].push_back(s["target"]["count"]);
          if (op == "send" || op == "copy") {
            EXPECT_TRUE(s["source"]["buffer"].is_string()) << name;
          }
          if (op == "reduce") {
            EXPECT_TRUE(s["left"]["count"] == s["right"]["count"] &&
                        s["left"]["count"] == s["target"]["count"])
                << name;
            EXPECT_EQ(s.contains("from"),
                      (s["left"]["buffer"] == "received") != (s["right"]["buffer"] == "received"))
                << name;
          }
        }
      }
    EXPECT_EQ(sent, received) << name;
    EXPECT_GT(all, 0u) << name;
  }
}

TEST(show, text_lists_the_messages) {
  const command_result ring = tutti("show allreduce/ring --ranks 4");
  EXPECT_EQ(ring.status, 0);
  for (const char* part : {"0 => 1  input[0..2)", "3 -> 0  output[0..2)", "Patarasuk", "step 5",
                           "output[6..8) = received op input[6..8)"})
    EXPECT_NE(ring.text.find(part), ring.text.npos) << part;
  EXPECT_EQ(ring.text.find("Abbreviated"), ring.text.npos);
  const command_result many = tutti("show alltoall/pairwise --ranks 40"),
                       unabridged = tutti("show alltoall/pairwise --ranks 40 --all");
  EXPECT_NE(many.text.find("Abbreviated"), many.text.npos);
  EXPECT_EQ(unabridged.text.find("Abbreviated"), unabridged.text.npos);
  EXPECT_GT(unabridged.text.size(), many.text.size());
  EXPECT_NE(tutti("show reduce/knomial --rank 0").text.find("output[0..16) = input[0..16) op received"),
            std::string::npos);
  EXPECT_EQ(tutti("show allgatherv/ring --ranks 5 --uneven").status, 0);
  EXPECT_EQ(tutti("show neighbor_alltoallv/scattered --graph star").status, 0);
  EXPECT_EQ(tutti("show allreduce/ring --ranks 1").status, 0);
}

TEST(show, parameters_reach_the_schedule) {
  const json shown = json::parse(tutti("show bcast/chain:segment=64 --ranks 3 --count 32 --json").text);
  EXPECT_EQ(shown["parameters"]["segment"], 64);
  EXPECT_EQ(shown["count"], 32);
  EXPECT_EQ(shown["claims"]["rounds"], shown["measured"]["rounds"]);
  EXPECT_EQ(shown["ranks"][0]["rounds"].size(), 4u);
}

TEST(show, drawings_are_xml) {
  const bool have_xmllint = shell("command -v xmllint").status == 0;
  for (const char* call :
       {"allreduce/ring --ranks 4", "alltoall/bruck --ranks 16", "bcast/knomial:k=4 --ranks 13 --root 5",
        "scan/recursive_doubling --ranks 7 --ordered", "barrier/dissemination --ranks 1",
        "gather/across --first 3", "allreduce/dual_root:segment=64 --count 64 --rank 3",
        "alltoallv/tuna --uneven", "bcast/linear --ranks 200"}) {
    const command_result e = tutti(std::string("show ") + call + " --svg -");
    ASSERT_EQ(e.status, 0) << call << ": " << e.text;
    EXPECT_EQ(unbalanced(e.text), "") << call;
    for (const char* part : {"<svg xmlns=", "viewBox=\"0 0 ", "<title", "<desc", "prefers-color-scheme"})
      EXPECT_NE(e.text.find(part), e.text.npos) << call << ": " << part;
    EXPECT_EQ(e.text.find("<script"), e.text.npos);
    EXPECT_EQ(e.text.find("nan"), e.text.npos);
    if (have_xmllint) {
      EXPECT_EQ(shell(std::string("'") + TUTTI_TOOL + "' show " + call + " --svg - | xmllint --noout -").text,
                "")
          << call;
    }
  }
}

TEST(calls, wrong_ones_end_with_2_and_one_line) {
  const std::pair<const char*, const char*> wrong[] = {
      {"show allreduce/rnig", "did you mean \"allreduce/ring\""},
      {"show alreduce/ring", "did you mean \"allreduce/ring\""},
      {"show allreduce", "tutti list allreduce"},
      {"show ring", "several algorithms"},
      {"show allreduce/ring --ranks 0", "--ranks"},
      {"show allreduce/ring --ranks -3", "--ranks"},
      {"show allreduce/ring --ordered", "commutative"},
      {"show allgather/ring --ordered", "operator"},
      {"show allgather/recursive_doubling --ranks 6", "power_of_two"},
      {"show allgather/neighbor_exchange --ranks 5", "even_ranks"},
      {"show alltoall/pairwise --in-place", "not_in_place"},
      {"show bcast/linear --in-place", "in place"},
      {"show bcast/linear --root 8", "--root"},
      {"show allreduce/ring --root 1", "no root"},
      {"show allreduce/ring --first 2", "--first"},
      {"show bcast/across --ranks 4 --first 4", "--first"},
      {"show allreduce/ring --rank 9", "--rank"},
      {"show bcast/knomial:k=1", "out of range"},
      {"show bcast/knomial:q=2", "no parameter"},
      {"list alreduce", "did you mean \"allreduce\""},
      {"list allreduce/rong", "did you mean \"allreduce/ring\""},
      {"check nothing_of_the_kind", "no algorithm"}};
  for (const auto& [call, text] : wrong) {
    const command_result e = tutti(call);
    EXPECT_EQ(e.status, 2) << call;
    EXPECT_NE(e.text.find(text), e.text.npos) << call << " prints " << e.text;
    EXPECT_EQ(e.text.find('\n'), e.text.size() - 1) << call << " prints more than a line: " << e.text;
  }
  EXPECT_EQ(tutti("").status, 2);
  EXPECT_EQ(tutti("show").status, 2);
  EXPECT_EQ(tutti("no_such_command").status, 2);
  EXPECT_EQ(tutti("show allreduce/ring --ranks many").status, 2);
  EXPECT_EQ(tutti("show allreduce/ring --svg /no/such/folder/file.svg").status, 1);
}

TEST(help, has_examples_that_work) {
  for (const std::string command : {"info", "list", "show", "explain", "check", "preload"}) {
    const command_result e = tutti(command + " --help");
    EXPECT_EQ(e.status, 0) << command;
    const std::size_t examples = e.text.find("Examples:\n");
    ASSERT_NE(examples, e.text.npos) << command;
    // These take long, or need an MPI program.
    if (command == "check" || command == "preload") continue;
    for (std::size_t at = examples; (at = e.text.find("\n  tutti ", at)) != e.text.npos; ++at) {
      std::string line = e.text.substr(at + 9, e.text.find('\n', at + 1) - at - 9);
      line = line.substr(0, line.find(" |"));
      if (line.find("--svg") != line.npos) line = line.substr(0, line.find("--svg")) + "--svg -";
      EXPECT_EQ(tutti(line).status, 0) << line;
    }
  }
  EXPECT_EQ(tutti("--help").status, 0);
}

}  // namespace
