// SPDX-License-Identifier: Apache-2.0
//
// Tests that FIFOs and devices are rejected as trees and as trace files, and never block. A command
// that cannot write its output must exit with a non-zero status.
#include <chrono>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.hpp"
#include "support/contained_text.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "tool/tool.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tool_tests;

class irregular_files : public testing::Test {
 protected:
  irregular_files() : fifo(here.path("fifo")) { EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0); }
  void SetUp() override { alarm(100); }  // a hang ends the test
  void TearDown() override { alarm(0); }

  const scratch_folder here;
  const std::string fifo;
};

TEST_F(irregular_files, are_not_read) {
  for (const std::string& name : {fifo, std::string("/dev/zero"), std::string("/dev/full")}) {
    const tutti::detail::file_text read = tutti::detail::read_regular_file(name, 1000);
    EXPECT_TRUE(read.text.empty());
    EXPECT_NE(read.problem.find("only a regular file can be read"), std::string::npos) << read.problem;
  }
  EXPECT_NE(tutti::detail::read_regular_file(fifo, 10).problem.find("is a FIFO"), std::string::npos);
  EXPECT_NE(tutti::detail::read_regular_file(here.path("none"), 10).problem.find("No such file"),
            std::string::npos);
  const std::string regular = here.file("regular", "text");
  EXPECT_EQ(tutti::detail::read_regular_file(regular, 3).text, "tex");
}

TEST_F(irregular_files, are_not_written) {
  for (const std::string& name : {fifo, std::string("/dev/null"), std::string("/dev/full"), here.path("")})
    EXPECT_NE(tutti::detail::write_regular_file(name, "text"), "") << name;
  EXPECT_EQ(tutti::detail::write_regular_file(here.path("new"), "longer text"), "");
  EXPECT_EQ(tutti::detail::write_regular_file(here.path("new"), "text"), "");
  EXPECT_EQ(tutti::detail::read_regular_file(here.path("new"), 100).text, "text");
}

TEST_F(irregular_files, are_rejected_as_trees) {
  for (const char* variable :
       {"TUTTI_TREES", "TUTTI_COLL_SELECTION_JSON_FILE", "TUTTI_COLL_COMPOSITION_JSON_FILE"})
    for (const std::string& name : {fifo, std::string("/dev/zero")}) {
      const std::string call = std::string(variable) + "=" + name + " timeout 30 '" + TUTTI_TOOL + "' ";
      const command_result e = shell(call + "explain allreduce --ranks 2");
      EXPECT_EQ(e.status, 0) << e.text;
      EXPECT_NE(e.text.find("only a regular file can be read"), e.text.npos) << e.text;
      EXPECT_EQ(shell("TUTTI_COLL_STRICT=1 " + call + "explain allreduce --ranks 2").status, 2);
    }
  for (const char* call : {"validate ", "tree ", "diff threads ", "import mpich ", "tune --onto "}) {
    const command_result e = shell(std::string("timeout 30 '") + TUTTI_TOOL + "' " + call + fifo);
    EXPECT_EQ(e.status, 2) << call << e.text;
    EXPECT_NE(e.text.find("is a FIFO"), e.text.npos) << call << e.text;
  }
  EXPECT_EQ(tool_tests::tutti("tune --output /dev/null --budget 1").status, 2);
}

TEST_F(irregular_files, are_rejected_as_batches) {
  for (const std::string& name : {fifo, std::string("/dev/zero")}) {
    const command_result e = shell(std::string("timeout 30 '") + TUTTI_TOOL + "' explain --batch " + name);
    EXPECT_EQ(e.status, 2) << e.text;
    EXPECT_NE(e.text.find("only a regular file can be read"), e.text.npos) << e.text;
  }
}

TEST_F(irregular_files, are_rejected_for_drawings) {
  for (const char* call : {"show bcast/linear --svg ", "tree --svg "})
    for (const std::string& name : {fifo, std::string("/dev/null")}) {
      const command_result e = shell(std::string("timeout 30 '") + TUTTI_TOOL + "' " + call + name);
      EXPECT_EQ(e.status, 1) << call << e.text;
      EXPECT_NE(e.text.find("only a regular file can be written"), e.text.npos) << call << e.text;
    }
  const std::string drawing = here.path("drawing.svg");
  EXPECT_EQ(tool_tests::tutti("tree --svg " + drawing).status, 0);
  EXPECT_NE(tutti::detail::read_regular_file(drawing, 1000000).text.find("<svg"), std::string::npos);
}

TEST_F(irregular_files, are_rejected_for_traces) {
  for (const std::string& name : {fifo, std::string("/dev/full")}) {
    const scoped_variable trace("TUTTI_TRACE", "calls:json=" + name);
    const std::string output = captured_stderr([&] {
      EXPECT_TRUE(passes(job{"threads", 2}, [](tutti::communicator& world) { world.barrier(); }));
    });
    EXPECT_NE(output.find("TUTTI_TRACE: " + name), output.npos) << output;
    EXPECT_NE(output.find("only a regular file can be written"), output.npos) << output;
  }
}

TEST_F(irregular_files, are_rejected_for_task_traces) {
  for (const std::string& name : {fifo, std::string("/dev/null"), std::string("/dev/full")}) {
    const scoped_variable trace("TUTTI_TRACE", "tasks:" + name);
    const std::string output = captured_stderr([&] {
      EXPECT_TRUE(passes(job{"threads", 2}, [](tutti::communicator& world) {
        tutti::tasks::runtime rt(world);
        const auto x = rt.data<int>(0);
        rt.insert([](int& value) { value = 1; }, tutti::tasks::write(x));
        rt.wait_all();
      }));
    });
    EXPECT_TRUE(contains(output, "TUTTI_TRACE: " + name));
    EXPECT_TRUE(contains(output, "only a regular file can be written"));
  }
}

TEST_F(irregular_files, full_disks_set_the_status) {
  const std::string tree = here.file("tree.json", R"({"schema": "tutti/tree/1", "pure": {}})");
  const std::string mpich_file = here.file(
      "mpich.json", R"({"collective=barrier": {"algorithm=MPIR_Barrier_intra_recexch": {"k=2": {}}}})");
  const std::string calls[] = {
      "--help",
      "--version",
      "list --help",
      "info",
      "info --json",
      "info --markdown",
      "list",
      "list bcast",
      "list --long",
      "list --json",
      "list --markdown",
      "list --parameters",
      "show bcast/linear",
      "show bcast/linear --json",
      "show bcast/linear --svg -",
      "check bcast/linear --ranks 2",
      "check bcast/linear --ranks 2 --json",
      "tree",
      "tree --svg -",
      "explain bcast --ranks 4",
      "explain bcast --ranks 4 --json",
      "validate " + tree,
      "validate --json " + tree,
      "diff threads threads",
      "diff threads fibers --json",
      "import mpich " + mpich_file,
      "tune --engine threads --ranks 2 --only --quick --collectives barrier --budget 1"};
  for (const std::string& call : calls) {
    EXPECT_EQ(tool_tests::tutti(call + " > /dev/null").status,
              call.starts_with("diff threads fibers") ? 1 : 0)
        << call;
    const command_result e = shell("{ '" TUTTI_TOOL "' " + call + " > /dev/full; }");
    EXPECT_NE(e.status, 0) << call;
    EXPECT_NE(e.text.find("the output could not be written"), e.text.npos) << call << ": " << e.text;
  }
  for (const char* call : {"show bcast/linear --svg /dev/full", "tree --svg /dev/full"})
    EXPECT_NE(tool_tests::tutti(call).status, 0) << call;
  EXPECT_NE(tool_tests::tutti("import mpich " + mpich_file + " --output /dev/full").status, 0);
}

}  // namespace
