// SPDX-License-Identifier: Apache-2.0
//
// Tests TUTTI_TRACE=tasks:FILE: the file is JSON for Chrome's trace viewer, and contains each task,
// transfer and rank once. A second runtime writes a second file. Invalid values are rejected before
// the ranks start.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/check.hpp"
#include "support/contained_text.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace tests {
namespace {

using namespace tutti;
using nlohmann::json;

constexpr int ranks = 3, rounds = 5;

class task_trace : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(engines, task_trace, testing::Values("threads", "fibers"), by_name());

// Every rank adds the value of the previous rank to its own. The last rank sends its value
// explicitly to the first.
void chain(communicator& world) {
  const int p = world.size(), me = world.rank();
  int mine = 1, sum = 0;
  tasks::runtime rt(world);
  std::vector<tasks::handle<int>> x;
  for (int r = 0; r < p; ++r) x.push_back(r == me ? rt.data(mine, r) : rt.data<int>(r));
  for (int round = 0; round < rounds; ++round)
    for (int r = 1; r < p; ++r)
      rt.insert([](int& y, int z) { y += z; }, tasks::read_write(x[r]), tasks::read(x[r - 1]),
                tasks::name("add \"one\""));
  const auto here = rt.data(sum, me);
  if (me == p - 1) rt.isend_detached(x[me], 0, 7);
  if (me == 0) rt.irecv_detached(here, p - 1, 7);
  rt.wait_all();
  check.that(me != 0 || sum > p - 1, "sum");
}

TEST_P(task_trace, has_each_task_transfer_and_rank) {
  const scratch_folder here;
  const std::string path = here.path("trace.json");
  const scoped_variable case_options("TUTTI_TRACE", "tasks:" + path);
  ASSERT_TRUE(passes(job{GetParam(), ranks}, [](communicator& world) {
    chain(world);
    chain(world);
  }));
  for (const std::string& file : {path, path + ".2"}) {
    const json all = json::parse(contents(file));
    ASSERT_TRUE(all.is_array());
    std::map<std::string, int> kinds;
    std::map<int, int> tasks_of;
    for (const json& e : all) {
      if (e.at("ph") == "M") {
        ++kinds["rank"];
        continue;
      }
      const std::string kind = e.at("cat");
      ++kinds[kind];
      EXPECT_GE(e.at("dur").get<double>(), 0);
      if (kind == "task") {
        EXPECT_EQ(e.at("name"), "add \"one\"");
        ++tasks_of[e.at("pid").get<int>()];
      } else if (kind != "idle") {
        EXPECT_EQ(e.at("args").at("bytes"), sizeof(int));
        const int peer = e.at("args").at("peer");
        EXPECT_TRUE(peer >= 0 && peer < ranks && peer != e.at("pid").get<int>());
      }
    }
    EXPECT_EQ(kinds["rank"], ranks);
    EXPECT_EQ(kinds["task"], rounds * (ranks - 1));
    EXPECT_EQ(tasks_of.size(), ranks - 1u);
    // Rank 0's value never changes, so it is sent once. The other values are sent in each round,
    // and one explicitly.
    EXPECT_EQ(kinds["send"], 1 + rounds * (ranks - 2) + 1);
    EXPECT_EQ(kinds["receive"], kinds["send"]);
  }
}

TEST_P(task_trace, is_refused_without_a_file) {
  for (const char* wrong : {"tasks", "tasks:", "calls,", "calls,task:x"}) {
    const scoped_variable case_options("TUTTI_TRACE", wrong);
    run_options options;
    options.engine = GetParam();
    EXPECT_THROW(run(options, [](communicator&) {}), usage_error) << wrong;
  }
}

}  // namespace
}  // namespace tests
