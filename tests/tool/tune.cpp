// SPDX-License-Identifier: Apache-2.0
//
// Tests tutti tune: a short campaign gives legal trees, states how it measured and warns about
// shared cores, and wrong calls report errors. unit/grow.cpp and unit/noisy_campaign.cpp test how
// the figures are evaluated.
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "tool.hpp"

namespace {

using nlohmann::json;
using namespace tool_tests;

// Binds the calling thread, and the processes and threads that it starts, to one core.
class on_one_core {
 public:
  on_one_core() {
    cpu_set_t one;
    CPU_ZERO(&one);
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    for (int c = 0; c < CPU_SETSIZE; ++c)
      if (CPU_ISSET(c, &before_) && CPU_COUNT(&one) == 0) CPU_SET(c, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  on_one_core(const on_one_core&) = delete;
  on_one_core& operator=(const on_one_core&) = delete;
  ~on_one_core() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// The output without progress, and what the tool printed to standard error.
json tuned(const std::string& arguments, std::string& errors) {
  const scratch_folder here;
  const command_result done = shell("('" TUTTI_TOOL "' tune --json --output '" + here.path("x.json") + "' " +
                                    arguments + " 2>'" + here.path("errors") + "')");
  errors = contents(here.path("errors"));
  EXPECT_EQ(done.status, 0) << done.text << errors;
  return done.status == 0 ? json::parse(done.text) : json::object();
}

std::set<std::string> warnings_of(const json& report) {
  std::set<std::string> all;
  for (const json& one : report["warnings"]) all.insert(one["about"].get<std::string>());
  return all;
}

TEST(tune, writes_trees_that_are_legal) {
  const scratch_folder here;
  const std::string file = here.path("tuned.json");
  // The parentheses keep the progress output apart from the figures.
  const command_result done =
      shell("('" TUTTI_TOOL
            "' tune --quick --engine fibers --ranks 3 --collectives barrier,bcast --budget 5s "
            "--json --output '" +
            file + "' 2>/dev/null)");
  ASSERT_EQ(done.status, 0) << done.text;
  const json report = json::parse(done.text);
  EXPECT_EQ(report["engine"], "fibers");
  EXPECT_EQ(report["campaigns"].back()["ranks"], 3);
  EXPECT_LT(report["seconds"], 60);
  std::set<std::pair<std::string, int>> cells;
  for (const json& cell : report["cells"]) {
    cells.emplace(cell["collective"].get<std::string>(), cell["ranks"].get<int>());
    bool native = false;
    for (const json& choice : cell["pure"]) {
      EXPECT_GT(choice["us"], 0) << cell;
      native = native || choice["name"] == "native";
    }
    EXPECT_TRUE(native) << cell;
  }
  for (const char* what : {"barrier", "bcast"})
    for (const int ranks : {2, 3}) EXPECT_TRUE(cells.contains({what, ranks})) << what << " " << ranks;
  const json document = json::parse(contents(file));
  EXPECT_EQ(document, report["document"]);
  for (const char* key : {"cores", "cpu", "engine", "date", "command", "ranks"})
    EXPECT_FALSE(document["machine"][key].get<std::string>().empty()) << key;
  EXPECT_EQ(document["machine"]["command"].get<std::string>().find('/'), std::string::npos);
  const command_result valid = tutti("validate '" + file + "'");
  EXPECT_EQ(valid.status, 0) << valid.text;
  const command_result onto =
      tutti("tune --quick --engine fibers --ranks 4 --only --collectives barrier --budget 1s --onto '" +
            file + "' --output '" + file + "'");
  EXPECT_EQ(onto.status, 0) << onto.text;
  EXPECT_EQ(tutti("validate '" + file + "'").status, 0);
}

TEST(tune, states_how_it_measured_and_the_spread) {
  std::string errors;
  const json report =
      tuned("--engine fibers --ranks 2 --only --collectives bcast --sizes 8,64K --budget 2s --quick", errors);
  EXPECT_EQ(report["trees"], "fibers");
  EXPECT_EQ(report["document"]["machine"]["trees"], "fibers");
  const json& protocol = report["protocol"];
  EXPECT_EQ(protocol["budget_ms"], 1.5);
  EXPECT_EQ(protocol["loop_below_bytes"], 4096);
  EXPECT_GT(protocol["page_bytes"], 0);
  EXPECT_FALSE(protocol["transparent_huge_pages"].get<std::string>().empty());
  EXPECT_GE(protocol["short_calls"]["calls_per_sample"][0], 1);
  EXPECT_EQ(protocol["long_calls"]["calls_per_sample"], (json{1, 1}));
  for (const char* kind : {"short_calls", "long_calls"}) {
    EXPECT_GT(protocol[kind]["samples"][0], 0);
    EXPECT_LE(protocol[kind]["samples"][0], protocol[kind]["samples"][1]);
    for (const char* key : {"written_before_each_call", "read_after_each_call"})
      EXPECT_FALSE(protocol[kind][key].get<std::string>().empty()) << key;
  }
  ASSERT_EQ(report["cells"].size(), 2u);
  std::size_t unclear = 0;
  for (const json& cell : report["cells"]) {
    unclear += cell["unclear"] ? 1 : 0;
    for (const json& choice : cell["pure"]) {
      EXPECT_GE(choice["measurements"], 1) << cell;
      EXPECT_LE(choice["min_us"], choice["us"]) << cell;
      EXPECT_GE(choice["iqr"], 0) << cell;
      EXPECT_GE(choice["spread"], 0) << cell;
    }
  }
  EXPECT_EQ(report["campaigns"][0]["unclear"], unclear);

  const scratch_folder here;
  const command_result text = tutti(
      "tune --engine fibers --ranks 2 --only --collectives barrier --budget 1s "
      "--quick --output '" +
      here.path("x.json") + "'");
  EXPECT_EQ(text.status, 0) << text.text;
  for (const char* part : {"calls per sample", "first writes a word of the sent data", "stays unclear",
                           "median spread", "transparent huge pages"})
    EXPECT_NE(text.text.find(part), text.text.npos) << part << " in " << text.text;
}

TEST(tune, warns_once_if_ranks_share_cores) {
  const on_one_core bound;
  const std::string common = " --quick --collectives barrier --budget 2s";
  std::string errors;
  EXPECT_TRUE(warnings_of(tuned("--engine threads --ranks 3" + common, errors)).contains("oversubscribed"));
  EXPECT_EQ(count_of("warning:", errors), 1u) << errors;
  EXPECT_NE(errors.find("2 ranks share 1 core: times include waiting"), errors.npos) << errors;
  // Fibers share cores by design.
  EXPECT_FALSE(warnings_of(tuned("--engine fibers --ranks 3" + common, errors)).contains("oversubscribed"));
  EXPECT_EQ(errors.find("share"), errors.npos) << errors;
}

TEST(tune, warns_once_if_other_programs_compute) {
  const on_one_core bound;
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over.load()) {
    }
  });
  std::string errors;
  const json report = tuned("--engine fibers --ranks 3 --quick --collectives barrier --budget 2s", errors);
  over = true;
  other.join();
  EXPECT_TRUE(warnings_of(report).contains("load")) << report["warnings"];
  EXPECT_EQ(count_of("warning: other programs compute on the same cores", errors), 1u) << errors;
}

TEST(tune, wrong_calls_end_with_2) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--engine thraeds", "there is no engine"},
      {"--collectives allreduze", "did you mean \"allreduce\""},
      {"--engine mpi", "mpirun"},
      {"--ranks 1", "must be 2 to 4096"},
      {"--budget soon", "120s"},
      {"--output no/such/folder/x.json", "is not a folder"},
      {"--onto no_such_file.json", "cannot be read"}};
  for (const auto& [arguments, text] : wrong) {
    const command_result e = tutti(std::string("tune ") + arguments);
    EXPECT_EQ(e.status, 2) << arguments;
    EXPECT_NE(e.text.find(text), e.text.npos) << e.text;
  }
}

}  // namespace
