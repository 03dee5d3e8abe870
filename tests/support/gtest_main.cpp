// SPDX-License-Identifier: Apache-2.0
//
// The main program of every unit test. The first failed check of a test prints the two lines of
// repeated_calls.hpp.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/repeated_calls.hpp"

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
  const std::string_view answer = "Actual: false (";
  if (const std::size_t at = message.find(answer); at != message.npos)
    message = message.substr(at + answer.size(), message.rfind(")\nExpected") - at - answer.size());
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

class says_how_to_run_again : public testing::EmptyTestEventListener {
 public:
  explicit says_how_to_run_again(const tests::beginning& start) : start_(start) {}

  void OnTestStart(const testing::TestInfo& test) override {
    test_ = &test;
    said_ = false;
  }
  // GoogleTest holds its lock here, so it cannot be asked which test runs.
  void OnTestPartResult(const testing::TestPartResult& part) override {
    const testing::TestInfo* const test = test_;
    if (!part.failed() || test == nullptr || said_.exchange(true)) return;
    const std::string name = std::string(test->test_suite_name()) + "." + test->name();
    const std::string seed = noted(*test, "seed"), only = noted(*test, "case");
    const std::string what = gist(part.message());
    std::vector<std::string> arguments{"--gtest_filter=" + name};
    if (!only.empty())
      arguments.insert(arguments.end(), {"--only", only});
    else if (!tests::wanted_case().empty())
      arguments.insert(arguments.end(), {"--only", tests::wanted_case()});
    std::fputs(("FAILED " + name + (seed.empty() ? "" : " (seed " + seed + ")") + ": " + what + "\n" +
                start_.again({}, arguments, seed) + "\n")
                   .c_str(),
               stdout);  // standard error may be captured
    std::fflush(stdout);
  }

 private:
  const tests::beginning& start_;
  const testing::TestInfo* test_ = nullptr;
  std::atomic<bool> said_{false};  // atomic, because ranks check too
};

}  // namespace

int main(int argc, char** argv) {
  const tests::beginning start(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  // The list takes ownership.
  testing::UnitTest::GetInstance()->listeners().Append(new says_how_to_run_again(start));
  return RUN_ALL_TESTS();
}
