// SPDX-License-Identifier: Apache-2.0
//
// Tests that MPICH's selection files are recognized and converted into trees with the same
// decisions.
#include <sstream>

#include <gtest/gtest.h>

#include "tool/tool.hpp"

namespace {

using namespace tool_tests;

const std::string sample = std::string(SAMPLES) + "/selection.json";

struct import_mpich : testing::Test {
  import_mpich() : tree(here.path("tree.json")) {
    notes = tutti("import mpich " + sample + " --output " + tree);
  }
  // Returns the algorithm of a call, for example "bcast/knomial:k=4".
  std::string chosen(const std::string& call) const {
    const command_result e = shell("TUTTI_COLL_STRICT=1 TUTTI_TREES=" + tree + " '" TUTTI_TOOL "' explain " +
                                   call + " --engine mpi --json");
    EXPECT_EQ(e.status, 0) << call << e.text;
    const std::string key = "\"algorithm\": \"";
    const std::size_t at = e.text.find(key);
    if (at == e.text.npos) return e.text;
    return e.text.substr(at + key.size(), e.text.find('"', at + key.size()) - at - key.size());
  }
  bool reports(std::string_view part) const { return notes.text.find(part) != notes.text.npos; }

  const scratch_folder here;
  const std::string tree;
  command_result notes;
};

TEST_F(import_mpich, makes_a_tree_that_is_valid) {
  EXPECT_EQ(notes.status, 0) << notes.text;
  const command_result valid = tutti("validate " + tree);
  EXPECT_EQ(valid.status, 0) << valid.text;
  EXPECT_EQ(tutti("diff mpi " + tree).status, 1);
  const command_result printed = tutti("import mpich --quiet " + sample);
  EXPECT_EQ(printed.status, 0);
  EXPECT_EQ(here.file("printed.json", printed.text), here.path("printed.json"));
  EXPECT_EQ(tutti("validate " + here.path("printed.json")).status, 0) << printed.text;
}

TEST_F(import_mpich, decides_as_the_file_says) {
  const std::pair<const char*, const char*> calls[] = {
      {"bcast --ranks 7 --bytes 1M", "bcast/knomial"},
      {"bcast --ranks 8 --bytes 8000", "bcast/knomial"},
      {"bcast --ranks 8 --bytes 64KiB", "bcast/scatter_recursive_doubling"},
      {"bcast --ranks 12 --bytes 64KiB", "bcast/scatter_ring"},
      {"bcast --ranks 12 --bytes 512KiB", "bcast/chain"},
      {"allreduce --ranks 9 --bytes 1M --op noncommutative", "allreduce/recursive_doubling"},
      {"allreduce --ranks 9 --bytes 1M --in-place", "allreduce/recursive_multiplying"},
      {"allreduce --ranks 9 --bytes 64", "allreduce/recursive_doubling"},
      {"allreduce --ranks 9 --bytes 2048", "allreduce/reduce_scatter_allgather"},
      {"allreduce --ranks 9 --bytes 4096", "allreduce/ring"},
      {"allgatherv --ranks 4 --bytes 1024", "allgatherv/bruck"},
      {"allgatherv --ranks 4 --bytes 1032", "allgatherv/ring"},
      {"allgather --ranks 4 --bytes 1024", "allgather/recursive_doubling"},
      {"allgather --ranks 4 --bytes 1032", "allgather/ring"},
      {"alltoall --ranks 4 --bytes 1024 --in-place", "alltoall/in_place_exchange"},
      {"alltoall --ranks 4 --bytes 256", "alltoall/bruck"},
      {"alltoall --ranks 4 --bytes 264", "alltoall/scattered"},
      {"alltoall --ranks 4 --bytes 1M", "alltoall/pairwise"},
      {"gatherv --ranks 4", "gatherv/linear"},
      {"barrier --ranks 4", "barrier/dissemination"}};
  for (const auto& [call, algorithm] : calls) EXPECT_EQ(chosen(call), algorithm) << call;
  const std::string text = tutti("tree " + tree).text;
  for (const char* parameter : {"\"k\": 4", "\"segment\": 8192", "\"window\": 4", "\"k\": 3"})
    EXPECT_NE(text.find(parameter), text.npos) << parameter;
}

TEST_F(import_mpich, lists_what_has_no_counterpart) {
  for (const char* part :
       {"selection.json:4: bcast: MPIR_Bcast_intra_smp has no counterpart: the composition node_leader",
        "between two groups tutti has one algorithm", "\"count<pow2\" becomes fewer elements than ranks",
        "the parameter single_phase_recv=1 has no counterpart", "the parameter k=1000000 has no counterpart",
        "gatherv: \"avg_msg_size<=100\" is skipped: not all ranks know this size",
        "the test \"is_multi_threaded=yes\" has no counterpart",
        "MPIDI_Reduce_intra_composition_alpha has no counterpart",
        "ibcast: in tutti a nonblocking call runs the algorithm of the blocking call",
        "neighbor_allgather: tutti runs the algorithm of neighbor_allgatherv",
        "allgather: recursive_doubling"})
    EXPECT_TRUE(reports(part)) << part << " is not in\n" << notes.text;
}

TEST_F(import_mpich, where_trees_are_expected_is_said_in_one_line) {
  for (const std::string call : {"validate ", "tree ", "diff mpi "}) {
    const command_result e = tutti(call + sample);
    EXPECT_NE(e.status, 0);
    EXPECT_EQ(std::count(e.text.begin(), e.text.end(), '\n'), 1) << e.text;
    EXPECT_NE(e.text.find("tutti import mpich"), e.text.npos) << e.text;
  }
  const command_result e = shell("TUTTI_TREES=" + sample + " '" TUTTI_TOOL "' explain bcast --ranks 2");
  EXPECT_NE(e.text.find("tutti import mpich FILE converts it"), e.text.npos) << e.text;
}

TEST_F(import_mpich, of_other_files_is_refused) {
  EXPECT_EQ(tutti("import mpich " + tree).status, 2);
  EXPECT_EQ(tutti("import mpich " + here.file("broken.json", "{\"collective=bcast\": ")).status, 2);
  EXPECT_EQ(tutti("import mpich " + here.path("none.json")).status, 2);
  EXPECT_EQ(tutti("import openmpi " + sample).status, 2);
  EXPECT_EQ(tutti("import").status, 2);
  // Unusual contents.
  const std::string strange = here.file("strange.json", R"({"collective=bcast": {"comm_size<0": {}, "x": 3,
    "comm_size<=-1": [], "algorithm": null}, "collective=scan": 7, "collective=": {}, "comm_type=x": {"": {}}})");
  const command_result e = tutti("import mpich " + strange + " --output " + here.path("out.json"));
  EXPECT_EQ(e.status, 0) << e.text;
  EXPECT_EQ(tutti("validate " + here.path("out.json")).status, 0);
}

}  // namespace
