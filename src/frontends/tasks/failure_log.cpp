// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/failure_log.hpp"

#include <cstdlib>

#include "base/report_text.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

using namespace tutti::detail;

std::exception_ptr error_of(const failure& why, const char* operation, int rank) {
  const task_error reported(operation, rank, "",
                            why.task + " on rank " + std::to_string(why.rank) + " threw: " + why.text,
                            "its output is invalid until it is overwritten");
  if (why.exception == nullptr) return std::make_exception_ptr(reported);
  try {
    try {
      std::rethrow_exception(why.exception);
    } catch (...) {
      std::throw_with_nested(reported);
    }
  } catch (...) {
    return std::current_exception();
  }
}

std::string text_of(const failure& why) {
  std::string text = why.task;
  text += '\0';
  text += std::to_string(why.rank);
  text += '\0';
  return text += why.text.substr(0, 3000);
}

const failure* failure_log::add(failure one, bool report) {
  one.text = std::string(without_prefix(one.text));
  const std::lock_guard<std::mutex> held(mutex_);
  failures_.push_back(std::move(one));
  if (report && to_report_ == nullptr) to_report_ = &failures_.back();
  return &failures_.back();
}

const failure* failure_log::add_received(const char* text, std::size_t bytes) {
  const std::string task(text), rank(text + task.size() + 1);
  const std::size_t at = task.size() + rank.size() + 2;
  return add({task, std::atoi(rank.c_str()), std::string(text + at, bytes - at), nullptr}, true);
}

void failure_log::mark_reported(const failure& one) {
  const std::lock_guard<std::mutex> held(mutex_);
  if (to_report_ == &one) to_report_ = nullptr;
}

void failure_log::throw_first(const char* operation) {
  const failure* first = nullptr;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    first = std::exchange(to_report_, nullptr);
  }
  if (first != nullptr) std::rethrow_exception(error_of(*first, operation, rank_));
}

}  // namespace tutti::tasks
