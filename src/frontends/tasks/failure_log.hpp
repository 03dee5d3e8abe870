// SPDX-License-Identifier: Apache-2.0
//
// The failures and errors of one rank. A *failure* is a kernel that has thrown, here or on another
// rank; the data that it should have written point to it. An *error* is a mistake in the graph or
// a failed peer; the next call that waits throws it.
//
// Kernels and transfers add failures. Any thread may add one. task_graph throws errors and the
// first failure in the calls of the program.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

namespace tutti::tasks {

/// The reason why data could not be computed. It lives as long as its log.
struct failure {
  std::string task;                        // the name of the task in reports
  int rank = 0;                            // the rank that ran it
  std::string text;                        // the text of what it threw
  std::exception_ptr exception = nullptr;  // on that rank only
};

/// A task_error about the failure. On the rank of the kernel it nests the kernel's exception.
std::exception_ptr error_of(const failure& why, const char* operation, int rank);
/// The text by which a message carries a failure: see failure_log::add_received().
std::string text_of(const failure& why);

class failure_log {
 public:
  explicit failure_log(int rank) noexcept : rank_(rank) {}
  failure_log(const failure_log&) = delete;
  failure_log& operator=(const failure_log&) = delete;

  // --- any thread
  /// A task of this rank has thrown; throw_first() reports it.
  const failure* add_thrown(std::string task, std::string text, std::exception_ptr what) {
    return add({std::move(task), rank_, std::move(text), std::move(what)}, true);
  }
  /// Adds the reason why a transfer does not arrive. record_error() reports it.
  const failure* add_lost(std::string what, int rank, std::string text) {
    return add({std::move(what), rank, std::move(text), nullptr}, false);
  }
  /// Adds a failure of another rank, from the text of text_of(). throw_first() reports it.
  const failure* add_received(const char* text, std::size_t bytes);
  /// The caller reports this failure itself.
  void mark_reported(const failure& one);
  /// Throws the first failure that is not reported, once, as an error of `operation`.
  void throw_first(const char* operation);

  // --- the rank's own thread
  /// Keeps the first error.
  void record_error(std::exception_ptr what) {
    if (!error_) error_ = std::move(what);
  }
  /// Throws the error, once.
  void throw_error() {
    if (error_) [[unlikely]]
      std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  const failure* add(failure one, bool report);

  int rank_;
  std::mutex mutex_;  // of the next two
  std::deque<failure> failures_;
  const failure* to_report_ = nullptr;
  std::exception_ptr error_;
};

}  // namespace tutti::tasks
