// SPDX-License-Identifier: Apache-2.0
//
// Tests `tutti simulate` as a user sees it: texts, JSON, drawings, and what it rejects.
#include <cstdio>
#include <filesystem>
#include <regex>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

json simulated(const std::string& arguments) {
  const command_result r = tutti("simulate " + arguments + " --json");
  EXPECT_EQ(r.status, 0) << r.text;
  return json::parse(r.text);
}

TEST(simulate, prints_the_figures_of_simgrid) {
  const command_result r =
      tutti("simulate allreduce/recursive_doubling --machine flat --ranks 64 --bytes 1M");
  EXPECT_EQ(r.status, 0) << r.text;
  for (const char* part : {"allreduce/recursive_doubling of 64 ranks on flat, 1048576 bytes",
                           "time          511.124 us", "messages      384, ", "busiest link  node ",
                           "waiting       mean ", "critical path", "0.000 us     0.300 us  rank "})
    EXPECT_NE(r.text.find(part), r.text.npos) << part << "\n" << r.text;
}

TEST(simulate, json) {
  const json j = simulated("bcast/knomial --machine flat --ranks 8 --bytes 8 --root 3");
  EXPECT_EQ(j["name"], "bcast/knomial");
  EXPECT_EQ(j["root"], 3);
  EXPECT_NEAR(j["seconds"].get<double>(), 4.806e-6, 1e-9);
  EXPECT_EQ(j["messages"], 7);
  EXPECT_EQ(j["message_bytes"], 56);
  EXPECT_EQ(j["ends"].size(), 8u);
  EXPECT_EQ(j["waiting"]["ranks"].size(), 8u);
  EXPECT_EQ(j["busiest_link"]["name"], "node 3 up");
  EXPECT_EQ(j["critical_path"].front()["rank"], 3);
  EXPECT_EQ(j["critical_path"].back()["end"], j["seconds"]);
}

TEST(simulate, prints_how_long_ranks_wait) {
  const std::string call = "simulate bcast/linear --machine flat --bytes 8 --ranks ";
  const json waits = json::parse(tutti(call + "16 --json").text)["waiting"]["ranks"];
  const std::string few = tutti(call + "16").text, many = tutti(call + "17").text,
                    all = tutti(call + "17 --all").text;
  for (const int rank : {0, 1, 15}) {
    char line[80];
    std::snprintf(line, sizeof line, "  rank %-7d %9.3f us", rank,
                  waits[static_cast<std::size_t>(rank)].get<double>() * 1e6);
    EXPECT_NE(few.find(line), few.npos) << line << "\n" << few;
  }
  // The root does nothing but send; the last rank waits for all of it.
  EXPECT_NE(few.find("on rank 15, least 0.000 us on rank 0\n"), few.npos) << few;
  EXPECT_EQ(many.find("waiting of each rank"), many.npos) << many;
  EXPECT_NE(many.find("on rank 16, least 0.000 us on rank 0\n"), many.npos) << many;
  EXPECT_NE(all.find("\n  rank 16 "), all.npos) << all;
}

TEST(simulate, parameters_compositions_and_the_choice_of_the_trees) {
  EXPECT_EQ(simulated("allreduce/reduce_scatter_allgather:k=16 --machine flat --ranks 16 --bytes 1K")["name"],
            "allreduce/reduce_scatter_allgather:k=16");
  // Within the three nodes to the leaders and back, and four messages between these.
  // TUTTI_PREFER: the inner calls of the trees of one node.
  const command_result leaders =
      shell("TUTTI_PREFER=native '" TUTTI_TOOL
            "' simulate allreduce/node_leader --machine eight-per-node --ranks 24 --bytes 1K --json");
  EXPECT_EQ(json::parse(leaders.text)["messages"], 2 * 21 + 4);
  EXPECT_EQ(simulated("barrier --machine slow-cluster-8 --ranks 100")["bytes"], 0);
  EXPECT_EQ(simulated("bcast --machine flat --ranks 4 --bytes 0")["bytes"], 0);
  // Calls between two groups, and of neighbors.
  EXPECT_GT(simulated("bcast/across --machine flat --ranks 6 --bytes 64")["seconds"], 0);
  EXPECT_EQ(simulated("neighbor_alltoallv/scattered --machine flat --ranks 6 --bytes 64")["messages"], 12);
}

TEST(simulate, what_another_mpi_chooses) {
  const json j = simulated("bcast --like open_mpi --machine flat --ranks 20 --bytes 96");
  EXPECT_EQ(j["name"], "bcast/knomial:k=4");
  EXPECT_EQ(j["like"], "open_mpi");
  EXPECT_EQ(j["seconds"], simulated("bcast/knomial:k=4 --machine flat --ranks 20 --bytes 96")["seconds"]);
  EXPECT_FALSE(simulated("bcast --machine flat --ranks 20 --bytes 96").contains("like"));
  // Inner calls are those of the same MPI: binomial trees up and, with radix 4, down.
  const json composed = simulated("allreduce --like open_mpi --machine flat --ranks 300 --bytes 64");
  EXPECT_EQ(composed["name"], "allreduce/reduce_bcast");
  EXPECT_NEAR(
      composed["seconds"].get<double>(),
      simulated("reduce/knomial --machine flat --ranks 300 --bytes 64")["seconds"].get<double>() +
          simulated("bcast/knomial:k=4 --machine flat --ranks 300 --bytes 64")["seconds"].get<double>(),
      0.01 * composed["seconds"].get<double>());
  EXPECT_EQ(simulated("allreduce --like mpich --machine eight-per-node --ranks 64 --bytes 1K")["name"],
            "allreduce/node_leader");
  EXPECT_EQ(simulated("allreduce --like mpich --machine flat --ranks 64 --bytes 1K")["name"],
            "allreduce/rabenseifner");
  const command_result r = tutti("simulate barrier --like mpich --machine flat --ranks 16");
  EXPECT_NE(r.text.find("chosen by     MPICH 4.0.2"), r.text.npos) << r.text;
}

TEST(simulate, draws_a_row_for_each_rank) {
  const scratch_folder folder;
  const std::string file = folder.path("chart.svg");
  const command_result r =
      tutti("simulate allreduce/ring --machine eight-per-node --ranks 16 --bytes 64K --svg " + file);
  EXPECT_EQ(r.status, 0) << r.text;
  const std::string drawing = contents(file);
  EXPECT_EQ(unbalanced(drawing), "");
  for (int rank = 0; rank < 16; ++rank)
    EXPECT_NE(drawing.find("rank " + std::to_string(rank) + ", round 29: "), drawing.npos) << rank;
  EXPECT_NE(drawing.find("class=\"critical\""), drawing.npos);
  EXPECT_EQ(unbalanced(tutti("simulate barrier/tree --machine laptop --ranks 1 --svg -").text), "");
  EXPECT_NE(tutti("simulate bcast --machine flat --ranks 2 --bytes 8 --svg /no/such/folder/a.svg").status, 0);
}

// The total width of the bars of a kind in the first row, divided by that of the chart.
double part_of_first_row(const std::string& drawing, const std::string& kind) {
  const std::regex bar("<rect class=\"" + kind + "\" x=\"[0-9.]+\" y=\"70.0\" width=\"([0-9.]+)\"");
  double sum = 0;
  for (std::sregex_iterator i(drawing.begin(), drawing.end(), bar), end; i != end; ++i)
    sum += std::stod((*i)[1]);
  return sum / 1000;
}

TEST(simulate, draws_reductions_of_received_messages_as_work) {
  const scratch_folder folder;
  const std::string slow = folder.file("slow.json", R"({"schema": "tutti/machine/1",
    "node": {"ranks": 1, "reduce": "1MB/s"}, "links": {"nic": {"latency": "1us", "bandwidth": "1GB/s"}},
    "network": {"topology": "flat", "link": "nic"}})");
  // The root waits 10 us and reduces for 8000 us.
  const std::string drawing =
      tutti("simulate reduce/linear --machine " + slow + " --ranks 2 --bytes 8000 --svg -").text;
  EXPECT_NEAR(part_of_first_row(drawing, "work"), 8000.0 / 8010, 1e-4) << drawing;
  EXPECT_NEAR(part_of_first_row(drawing, "transfers"), 1, 1e-4);  // below the work
}

TEST(simulate, rejects_with_one_message) {
  const scratch_folder folder;
  const std::string broken =
      folder.file("broken.json", "{\"schema\": \"tutti/machine/1\",\n \"node\": {\"ranks\": 0}}");
  const struct {
    std::string arguments, text;
  } cases[] = {
      {"allreduce/native --machine flat --ranks 4 --bytes 8",
       "runs inside of the engine, so it cannot be simulated"},
      {"allreduce/rnig --machine flat --ranks 4 --bytes 8", "did you mean \"allreduce/ring\"?"},
      {"allreduce/ring:k=3 --machine flat --ranks 4 --bytes 8", "there is no parameter \"k\""},
      {"ring --machine flat --ranks 4 --bytes 8", "several algorithms are called \"ring\""},
      {"allreduce/ring --machine flta --ranks 4 --bytes 8",
       "there is no machine \"flta\", and no such file; did you mean \"flat\"?"},
      {"allreduce/ring --machine ./none.json --ranks 4 --bytes 8", "none.json cannot be read"},
      {"allreduce/ring --machine " + broken + " --ranks 4 --bytes 8",
       "broken.json:2: /node/ranks: \"ranks\" is 0 (it can be 1 to 4096)"},
      {"allreduce/ring --machine laptop --ranks 17 --bytes 8",
       "the machine has 1 node of 16 ranks, but 17 ranks need 2 nodes"},
      {"allreduce/ring --machine flat --ranks 0 --bytes 8", "--ranks is 0; pass 1 to 1048576"},
      {"allreduce/ring --machine flat --ranks 2000000 --bytes 8", "--ranks is 2000000; pass 1 to 1048576"},
      {"alltoall/pairwise --machine flat --ranks 4 --bytes 8 --root 1", "alltoall has no root"},
      {"bcast --machine flat --ranks 4", "--bytes is missing: the length of a block of bcast, such as 64K"},
      {"allreduce/node_leader --machine flat --ranks 4", "--bytes is missing"},
      {"bcast --machine flat --ranks 4 --bytes 8 --root 4", "--root is 4, but ranks are 0 to 3"},
      {"bcast --machine flat --ranks 4 --bytes 8 --in-place", "does not work in place"},
      {"bcast --machine flat --ranks 4 --bytes 8 --ordered", "has no operator"},
      {"allreduce/ring --machine flat --ranks 4 --bytes 8 --ordered",
       "allreduce/ring does not serve this call: "},
      {"allgather/recursive_doubling --machine flat --ranks 6 --bytes 8", "does not serve this call: "},
      {"allreduce/multi_lane --machine eight-per-node --ranks 12 --bytes 8", "does not serve this call: "},
      {"allreduce --machine flat --ranks 4 --bytes 8 --engine mpj", "there is no engine \"mpj\""},
      {"allreduce --machine flat --ranks 4 --bytes 8 --like openmpi",
       "no choices of an MPI \"openmpi\" are known; did you mean \"open_mpi\"?"},
      {"allreduce/ring --machine flat --ranks 4 --bytes 8 --like mpich",
       "--like chooses the algorithm, but \"allreduce/ring\" names one; pass allreduce"},
      {"allreduce --machine flat --ranks 4 --bytes 8 --like mpich --engine mpi",
       "--like and --engine both name the trees that choose"},
      {"alltoall/scattered --machine flat --ranks 512 --bytes 8 --svg -",
       "--svg draws at most 200000 messages, and this call has more; simulate fewer ranks"},
      {"alltoall/pairwise --machine flat --ranks 65536 --bytes 8 --svg -",
       "--svg draws at most 200000 messages"},
      {"allreduce/ring --machine flat --ranks 4 --bytes 8 --json --svg -", "pass a file to --svg"},
      {"bcast/chain:segment=8 --machine flat --ranks 3 --bytes 17179869184",
       "a block has 2147483648 segments; pass fewer bytes or longer segments"},
  };
  for (const auto& c : cases) {
    const command_result r = tutti("simulate " + c.arguments);
    EXPECT_EQ(r.status, 2) << c.arguments << "\n" << r.text;
    EXPECT_NE(r.text.find(c.text), r.text.npos) << c.arguments << "\n" << r.text;
    EXPECT_TRUE(r.text.starts_with("tutti simulate: ")) << r.text;
    EXPECT_EQ(r.text.find('\n'), r.text.size() - 1) << "more than one line: " << r.text;
  }
}

TEST(simulate, a_machine_is_a_regular_file) {
  const scratch_folder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.path("directory"));
  const auto message = [&](const std::string& file) {
    const command_result r = shell("cd " + folder.path(".") + " && '" + TUTTI_TOOL +
                                   "' simulate bcast --machine " + file + " --ranks 2 --bytes 8");
    EXPECT_EQ(r.status, 2) << r.text;
    return r.text;
  };
  EXPECT_EQ(message("pipe"), "tutti simulate: pipe is a FIFO, and only a regular file can be read\n");
  EXPECT_EQ(message("./pipe"), "tutti simulate: ./pipe is a FIFO, and only a regular file can be read\n");
  EXPECT_EQ(message("directory"),
            "tutti simulate: directory is a folder, and only a regular file can be read\n");
  folder.file("secret", "{}");
  std::filesystem::permissions(folder.path("secret"), std::filesystem::perms::none);
  if (::access(folder.path("secret").c_str(), R_OK) != 0) {  // root may read it
    EXPECT_EQ(message("secret"), "tutti simulate: secret cannot be read: Permission denied\n");
  }
}

TEST(simulate, says_how_long_it_takes_and_ends_by_a_signal) {
  const scratch_folder folder;
  const std::string out = folder.path("out"), err = folder.path("err");
  // A command in the background would ignore Ctrl-C.
  const command_result r =
      shell(std::string("env --default-signal=INT '") + TUTTI_TOOL +
            "' simulate alltoall/pairwise --machine fast-cluster-8 --ranks 65536 --bytes 8 --json > " + out +
            " 2> " + err + " & job=$!; for i in $(seq 600); do grep -q about " + err +
            " && break; sleep 0.1; done; kill -INT $job; wait $job; echo ended with $?");
  EXPECT_NE(r.text.find("ended with 130"), r.text.npos) << r.text;
  EXPECT_TRUE(contents(err).starts_with("tutti simulate: 4.3e+09 messages take about ")) << contents(err);
  EXPECT_EQ(contents(err).find('#'), std::string::npos);  // the bar is for terminals
  EXPECT_EQ(contents(out), "");
}

TEST(simulate, rejects_ranks_that_exceed_the_memory) {
  // A limit of the address space of 1 GB. Programs with sanitizers cannot start with one.
  const std::string limited = std::string("ulimit -v 1000000; '") + TUTTI_TOOL + "' ";
  if (shell(limited + "--version").status != 0) return;
  const command_result r =
      shell(limited + "simulate allreduce/recursive_doubling --machine flat --ranks 1048576 --bytes 8");
  EXPECT_EQ(r.status, 2) << r.text;
  EXPECT_NE(r.text.find("the simulation of 1048576 ranks needs about"), r.text.npos) << r.text;
  EXPECT_NE(r.text.find("simulate fewer ranks"), r.text.npos) << r.text;
}

TEST(simulate, rejects_a_machine_whose_links_exceed_the_memory) {
  const scratch_folder folder;
  const std::string many_links = folder.file("many-links.json", R"({"schema": "tutti/machine/1",
    "node": {"ranks": 1}, "links": {"cable": {"latency": "1us", "bandwidth": "1GB/s"}},
    "network": {"topology": "fat_tree",
      "levels": [{"children": 1, "parents": 1024, "link": "cable"}, {"parents": 1, "link": "cable"}],
      "messages": {"eager_limit": "64KiB", "envelope": "16B", "send_overhead": "1us",
                   "receive_overhead": "1us"}}})");
  const std::string limited = std::string("ulimit -v 1000000; '") + TUTTI_TOOL + "' ";
  if (shell(limited + "--version").status != 0) return;  // a sanitizer reserves address space
  const command_result r =
      shell(limited + "simulate bcast --machine " + many_links + " --ranks 200000 --bytes 8");
  EXPECT_EQ(r.status, 2) << r.text;
  EXPECT_NE(r.text.find("the links of this machine need about"), r.text.npos) << r.text;
}

TEST(simulate, one_rank_stands_for_all_where_the_path_is_too_long) {
  const json j = simulated("allreduce/ring --machine flat --ranks 2048 --bytes 1M");
  EXPECT_EQ(j["simulated_ranks"], 1);
  EXPECT_EQ(j["messages"], 2 * 2047 * 2048);
  EXPECT_EQ(j["ends"].size(), 2048u);
  EXPECT_FALSE(j.contains("critical_path"));
  EXPECT_EQ(simulated("allreduce/ring --machine flat --ranks 8 --bytes 1M")["simulated_ranks"], 8);
  const std::string text =
      tutti("simulate allreduce/ring --machine eight-per-node --ranks 2048 --bytes 1M").text;
  EXPECT_NE(text.find("\nsimulated     the 8 ranks of one node, because all nodes behave alike\n"), text.npos)
      << text;
}

TEST(simulate, help_lists_the_machines) {
  const command_result r = tutti("simulate --help");
  for (const char* name : {"  flat ", "  fat-tree ", "  eight-per-node ", "  dragonfly "})
    EXPECT_NE(r.text.find(name), r.text.npos) << name;
  EXPECT_NE(r.text.find("200000"), r.text.npos) << r.text;  // what --svg draws
}

}  // namespace
