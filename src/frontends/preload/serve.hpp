// SPDX-License-Identifier: Apache-2.0
//
// The path of a call that is not at once forwarded to MPI. It finds the communicator and decides
// what the call runs. If that is not MPI's own collective, tutti runs it.
#pragma once

#include <optional>

#include "frontends/preload/arguments.hpp"
#include "frontends/preload/preload_process.hpp"

namespace tutti::preload {

/// Runs the call and returns what MPI would return. Returns nothing if MPI must run it; nothing was
/// done then.
std::optional<int> serve(process& p, const arguments& a);
/// The same for a nonblocking call.
std::optional<int> serve_nonblocking(process& p, const arguments& a, MPI_Request* request);

/// Counts a call that was forwarded to MPI, with its time, if statistics are requested.
class forwarded_call {
 public:
  forwarded_call(process* p, const arguments& a, bool nonblocking);
  ~forwarded_call();
  forwarded_call(const forwarded_call&) = delete;
  forwarded_call& operator=(const forwarded_call&) = delete;

 private:
  process* p_;
  collective what_;
  bool nonblocking_;
  std::uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point began_;
};

/// Whether the error handler ends the job.
bool is_fatal(MPI_Errhandler handler) noexcept;

/// Reports an exception of tutti to the program: calls the error handler of its communicator. If
/// the handler ends the job, the text is printed before. Returns the code. Call it in a catch
/// block.
int report_exception(MPI_Comm comm) noexcept;

}  // namespace tutti::preload
