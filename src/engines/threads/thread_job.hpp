// SPDX-License-Identifier: Apache-2.0
//
// A job whose ranks are threads, whoever made these: the engine, or a program that had them before.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "transport/endpoint.hpp"

namespace tutti {

class thread_job {
 public:
  /// Throws usage_error where TUTTI_NODES does not lay out so many ranks, std::system_error where the
  /// watchman gets no thread.
  explicit thread_job(int ranks);
  ~thread_job();
  thread_job(const thread_job&) = delete;
  thread_job& operator=(const thread_job&) = delete;

  /// Runs the program as this rank, on the calling thread. Each rank once. Nothing leaves it.
  void run_rank(int rank, const rank_program& program) noexcept;
  /// For a rank that does not run.
  void fail(int rank, std::exception_ptr what, const std::string& text);
  bool failed() const noexcept;
  /// When all ranks have run: how it ended. Ends the watch.
  outcome result();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace tutti
