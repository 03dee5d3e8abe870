// SPDX-License-Identifier: Apache-2.0
//
// Tests the command line with misspelt names, with sizes, and on narrow terminals.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "base/environment_variables.hpp"
#include "tool/tool.hpp"

namespace {

using namespace tool_tests;

testing::AssertionResult prints(const std::string& call, int status, std::string_view part) {
  const command_result e = tool_tests::tutti(call);
  if (e.status == status && e.text.find(part) != e.text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << call << ": status " << e.status << ", no \"" << part << "\" in\n"
                                     << e.text;
}

TEST(show, of_a_composition_refers_to_list) {
  for (const std::string name : {"allreduce/reduce_bcast", "reduce_bcast"}) {
    EXPECT_TRUE(prints("show " + name, 2, "allreduce/reduce_bcast is a composition: it calls reduce"));
    EXPECT_TRUE(prints("show " + name, 2, "tutti list allreduce/reduce_bcast --long"));
    EXPECT_EQ(tool_tests::tutti("show " + name).text.find("did you mean"), std::string::npos);
  }
  EXPECT_TRUE(prints("explain allreduce --ranks 8 --composition reduce_bcast", 0, "bcast"));
}

TEST(names, that_do_not_exist_are_reported) {
  EXPECT_TRUE(prints("bogus", 2, "there is no subcommand \"bogus\""));
  EXPECT_TRUE(prints("chekc", 2, "did you mean \"check\"?"));
  EXPECT_TRUE(prints("valdate x", 2, "did you mean \"validate\"?"));
  EXPECT_TRUE(prints("--bogus", 2, "there is no option \"--bogus\" before a subcommand"));
  EXPECT_TRUE(prints("--ranks=8 list", 2, "there is no option \"--ranks=8\" before a subcommand"));
  EXPECT_TRUE(prints("--hepl", 2, "did you mean \"--help\"?"));
  EXPECT_TRUE(prints("-x", 2, "there is no option \"-x\""));
}

TEST(values, are_truncated_in_messages) {
  const std::string value(5000, 'x');
  for (const std::string call : {"",
                                 "list ",
                                 "list bcast/",
                                 "show ",
                                 "check ",
                                 "check --ranks ",
                                 "explain ",
                                 "diff a b --engine ",
                                 "show allreduce/ring --ranks ",
                                 "show allreduce/ring --graph=",
                                 "list bcast ",
                                 "explain bcast --ranks 4 --group ",
                                 "explain bcast --ranks 4 --bytes ",
                                 "explain bcast --ranks 4 --nodes ",
                                 "explain bcast --ranks 4 --engine ",
                                 "validate ",
                                 "import mpich ",
                                 "tree ",
                                 "tune --sizes 8,",
                                 "preload -- ",
                                 "preload "}) {
    const command_result e = tool_tests::tutti(call + value);
    EXPECT_EQ(e.status, 2) << call << e.text;
    EXPECT_NE(e.text.find(std::string(30, 'x')), e.text.npos) << call << e.text;
    EXPECT_EQ(e.text.find(std::string(201, 'x')), e.text.npos) << call << e.text;
  }
}

TEST(suggestions, are_near_what_was_typed) {
  for (const char* call :
       {"list nosuch", "list nosuch/thing", "show nosuch", "check nosuch", "explain nosuch --ranks 2",
        "tree --svg - --collective nosuch", "tune --collectives nosuch"}) {
    EXPECT_TRUE(prints(call, 2, "nosuch"));
    EXPECT_EQ(tool_tests::tutti(call).text.find("did you mean"), std::string::npos)
        << call << tool_tests::tutti(call).text;
  }
  EXPECT_TRUE(prints("show allreduce/nosuch", 2, "tutti list shows all names"));
  EXPECT_TRUE(prints("show nosuch/ring", 2, "tutti list shows all names"));
  EXPECT_TRUE(prints("show alreduce/rnig", 2, "did you mean \"allreduce/ring\"?"));
  EXPECT_TRUE(prints("list allredcue", 2, "did you mean \"allreduce\"?"));
  EXPECT_TRUE(prints("show allreduce/rnig", 2, "did you mean \"allreduce/ring\"?"));
  EXPECT_TRUE(prints("check rnig", 2, "did you mean \"ring\"?"));
  EXPECT_TRUE(prints("list node_leder", 2, "did you mean \"node_leader\"?"));
}

TEST(sizes, have_suffixes_everywhere) {
  for (const auto& [text, bytes] : {std::pair<const char*, std::uint64_t>{"64", 64},
                                    {"64B", 64},
                                    {"1K", 1024},
                                    {"1k", 1024},
                                    {"1KiB", 1024},
                                    {"1KB", 1024},
                                    {"64KiB", 65536},
                                    {"1M", 1048576},
                                    {"1MiB", 1048576},
                                    {"2G", 2147483648},
                                    {"2GiB", 2147483648}}) {
    EXPECT_EQ(tutti::detail::read_number(text), bytes) << text;
    EXPECT_EQ(tool_tests::tutti(std::string("explain bcast --ranks 4 --bytes ") + text).status, 0) << text;
  }
  for (const char* text : {"", "B", "K", "1iB", "1KiBB", "1Ki", "1T", "1 K", "1.5K", "-1", "99999999999G"})
    EXPECT_FALSE(tutti::detail::read_number(text)) << text;
  EXPECT_TRUE(prints("show bcast/linear --ranks 3 --count 1KiB", 0, "1024 elements"));
  EXPECT_TRUE(prints("show allreduce/segmented_ring:segment=64KiB", 0, "segment"));
  EXPECT_TRUE(prints("explain allreduce --ranks 2 --count 1KiB --algorithm segmented_ring:segment=1MiB", 0,
                     "segment=1048576"));
  EXPECT_TRUE(prints("tune --sizes 1XiB", 2, "1XiB"));
  EXPECT_TRUE(prints("tune --sizes 1MiB,64KiB --collectives nosuch", 2, "nosuch"));
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(list, fits_the_terminal) {
  for (const char* what : {"", " allreduce", " bcast", " --long"})
    for (const std::size_t columns : {40u, 60u, 80u, 120u}) {
      if (std::string(what) == " --long" && columns < 100) continue;  // a variable is not broken
      const command_result e = shell("COLUMNS=" + std::to_string(columns) + " '" TUTTI_TOOL "' list" + what);
      EXPECT_EQ(e.status, 0);
      EXPECT_LE(longest_line(e.text), columns) << what << columns << "\n" << e.text;
      EXPECT_NE(e.text.find("bcast/linear") != e.text.npos, std::string(what) == " allreduce") << e.text;
    }
  // In a pipe no column is omitted, so a script finds its field.
  const command_result piped = shell("env -u COLUMNS '" TUTTI_TOOL "' list allreduce");
  EXPECT_NE(piped.text.find("source"), piped.text.npos);
  if (shell("command -v script").status != 0) GTEST_SKIP() << "there is no program \"script\"";
  const command_result terminal = shell("env -u COLUMNS script -qc \"stty cols 80; '" TUTTI_TOOL
                                        "' list\" /dev/null < /dev/null | tr -d '\\r'");
  EXPECT_GT(longest_line(terminal.text), 20u);
  EXPECT_LE(longest_line(terminal.text), 80u) << terminal.text;
}

}  // namespace
