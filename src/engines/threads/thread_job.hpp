// SPDX-License-Identifier: Apache-2.0
//
// A job whose ranks are threads. Either the engine makes the threads, or the program has them
// already.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "transport/endpoint.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {

class TUTTI_API thread_job {
 public:
  /// Throws usage_error if TUTTI_NODES does not describe that many ranks. Throws std::system_error
  /// if the deadlock monitor gets no thread.
  explicit thread_job(int ranks);
  ~thread_job();
  thread_job(const thread_job&) = delete;
  thread_job& operator=(const thread_job&) = delete;

  /// Runs the program as this rank, on the calling thread. Call it once for each rank. No exception
  /// leaves it.
  void run_rank(int rank, const rank_program& program) noexcept;
  /// Records the failure of a rank that does not run.
  void fail(int rank, std::exception_ptr what, const std::string& text);
  bool failed() const noexcept;
  /// The result, when all ranks have run. Stops the deadlock monitor.
  outcome result();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace tutti::detail
