// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/failure_log.hpp"

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "parts.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tests {
namespace {

TEST(failure_log, throws_the_first_failure_once) {
  failure_log log(3);
  EXPECT_EQ(thrown_by([&] { log.throw_first("wait_all"); }), "");
  const failure* const first = log.add_thrown("task 1", "tutti: one", nullptr);
  log.add_thrown("task 2", "two", nullptr);
  EXPECT_EQ(first->text, "one");
  EXPECT_EQ(first->rank, 3);
  EXPECT_NE(thrown_by([&] { log.throw_first("wait_all"); }).find("task 1 on rank 3 threw: one"),
            std::string::npos);
  EXPECT_EQ(thrown_by([&] { log.throw_first("wait_all"); }), "");
}

TEST(failure_log, nests_the_exception_of_a_kernel) {
  failure_log log(0);
  log.add_thrown("task 1", "planted", std::make_exception_ptr(std::out_of_range("planted")));
  try {
    log.throw_first("wait_all");
    FAIL();
  } catch (const task_error& e) {
    EXPECT_THROW(std::rethrow_if_nested(e), std::out_of_range);
  }
}

TEST(failure_log, does_not_report_what_the_caller_reports) {
  failure_log log(0);
  log.add_lost("a transfer", 1, "it was never inserted");
  EXPECT_EQ(thrown_by([&] { log.throw_first("wait_all"); }), "");
  const failure* const one = log.add_thrown("task 1", "one", nullptr);
  log.mark_reported(*one);
  EXPECT_EQ(thrown_by([&] { log.throw_first("wait_all"); }), "");
}

TEST(failure_log, reads_failures_of_other_ranks_from_messages) {
  const std::string text = text_of({"task \"a\"", 5, "planted fault", nullptr});
  failure_log log(0);
  const failure* const one = log.add_received(text.data(), text.size());
  EXPECT_EQ(one->task, "task \"a\"");
  EXPECT_EQ(one->rank, 5);
  EXPECT_EQ(one->text, "planted fault");
  EXPECT_LT(text_of({"t", 0, std::string(10000, 'x'), nullptr}).size(), 4000u);
}

TEST(failure_log, keeps_the_first_error) {
  failure_log log(0);
  log.throw_error();
  log.record_error(std::make_exception_ptr(std::runtime_error("one")));
  log.record_error(std::make_exception_ptr(std::runtime_error("two")));
  EXPECT_EQ(thrown_by([&] { log.throw_error(); }), "one");
  log.throw_error();
}

TEST(failure_log, takes_failures_of_any_thread) {
  failure_log log(0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(log.add_thrown("t", std::to_string(i), nullptr)->rank, 0);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_NE(thrown_by([&] { log.throw_first("wait_all"); }), "");
}

}  // namespace
}  // namespace tests
