// SPDX-License-Identifier: Apache-2.0
//
// The main program of every unit test. The first failed check of a test prints the two lines of
// failure_report.hpp.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/failure_report.hpp"

namespace {

// Returns a property that the test recorded: its seed, or the case that failed.
std::string noted(const testing::TestInfo& test, const std::string& key) {
  const testing::TestResult& result = *test.result();
  for (int i = 0; i < result.test_property_count(); ++i)
    if (result.GetTestProperty(i).key() == key) return result.GetTestProperty(i).value();
  return "";
}

// Returns the message on one line. For a job only the answer is included.
std::string gist(std::string message) {
  const std::string_view prefix = "Actual: false (";
  if (const std::size_t at = message.find(prefix); at != message.npos)
    message = message.substr(at + prefix.size(), message.rfind(")\nExpected") - at - prefix.size());
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

class repeat_command_printer : public testing::EmptyTestEventListener {
 public:
  explicit repeat_command_printer(const tests::program_start& start) : start_(start) {}

  void OnTestStart(const testing::TestInfo& test) override {
    test_ = &test;
    printed_ = false;
  }
  // GoogleTest holds its lock here, so it cannot be asked which test runs.
  void OnTestPartResult(const testing::TestPartResult& part) override {
    const testing::TestInfo* const test = test_;
    if (!part.failed() || test == nullptr || printed_.exchange(true)) return;
    const std::string name = std::string(test->test_suite_name()) + "." + test->name();
    const std::string seed = noted(*test, "seed"), only = noted(*test, "case");
    const std::string what = gist(part.message());
    std::vector<std::string> arguments{"--gtest_filter=" + name};
    if (!only.empty())
      arguments.insert(arguments.end(), {"--only", only});
    else if (!tests::selected_case().empty())
      arguments.insert(arguments.end(), {"--only", tests::selected_case()});
    std::fputs(("FAILED " + name + (seed.empty() ? "" : " (seed " + seed + ")") + ": " + what + "\n" +
                start_.repeat_command({}, arguments, seed) + "\n")
                   .c_str(),
               stdout);  // standard error may be captured
    std::fflush(stdout);
  }

 private:
  const tests::program_start& start_;
  const testing::TestInfo* test_ = nullptr;
  std::atomic<bool> printed_{false};  // atomic, because ranks check too
};

}  // namespace

int main(int argc, char** argv) {
  const tests::program_start start(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  // The list takes ownership.
  testing::UnitTest::GetInstance()->listeners().Append(new repeat_command_printer(start));
  return RUN_ALL_TESTS();
}
