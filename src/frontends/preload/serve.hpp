// SPDX-License-Identifier: Apache-2.0
//
// The way of a call that is not told at once to be one for MPI: which communicator's it is, what it runs,
// and, where that is not MPI's own collective, carried out by tutti.
#pragma once

#include <optional>

#include "frontends/preload/arguments.hpp"
#include "frontends/preload/preload_process.hpp"

namespace tutti::preload {

/// Carries the call out and returns what MPI would. Nothing: it is left to MPI, and nothing was done.
std::optional<int> serve(process& p, const arguments& a);
/// The same, not waiting.
std::optional<int> serve_begun(process& p, const arguments& a, MPI_Request* request);

/// Counts a call that was left to MPI, where somebody asks; `took` by it.
class passed_call {
 public:
  passed_call(process* p, const arguments& a, bool nonblocking);
  ~passed_call();
  passed_call(const passed_call&) = delete;
  passed_call& operator=(const passed_call&) = delete;

 private:
  process* p_;
  collective what_;
  bool nonblocking_;
  std::uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point began_;
};

/// Whether an error that it is told of ends the job.
bool ends_job(MPI_Errhandler handler) noexcept;

/// An exception of tutti's as the program is to see it: the error handler of its communicator is called, and
/// where that ends the job, what was wrong is said before. Returns the code. To be called where it is caught.
int failed(MPI_Comm comm) noexcept;

}  // namespace tutti::preload
