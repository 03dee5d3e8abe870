// SPDX-License-Identifier: Apache-2.0
//
// Where a program begins: run() makes the ranks, calls the program on each, and tells how it ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "tutti/core/error.hpp"

namespace tutti {

class communicator;

/// What run() would otherwise take from the environment. Empty or zero fields mean: as the variable says,
/// else the default.
struct run_options {
  std::string engine;      ///< "threads", "fibers" or "mpi"; TUTTI_ENGINE
  int ranks = 0;           ///< of the embedded engines; TUTTI_RANKS, else the cores
  int workers = 0;         ///< threads under the fibers; TUTTI_WORKERS, else the cores
  std::uint64_t seed = 0;  ///< fibers: not 0 makes one worker and a schedule that can be replayed; TUTTI_SEED
  std::size_t stack_bytes = 0;  ///< of a fiber; TUTTI_STACK, else 256 KiB
  int argc = 0;
  char** argv = nullptr;
  /// Where the headers were that the program was compiled with: engine modules stand beside an installation.
  const char* header = __FILE__;
};

/// What the run_options form of run() throws when a rank threw: the rank's number, the text, and (nested,
/// std::rethrow_if_nested) the exception itself where it was thrown in this process.
class rank_error : public error {
 public:
  rank_error(int rank, const std::string& text) : error("run", rank, "", text, ""), failed_rank_(rank) {}
  int failed_rank() const noexcept { return failed_rank_; }

 private:
  int failed_rank_;
};

/// Runs `program` on every rank and returns when all have returned.
///
/// In one process the ranks are threads or fibers and share what `program` captures; under mpirun each
/// process is one rank. Returns 0 when every rank returned. When a rank threw, the others are taken out of
/// their waits (they see peer_error), the first failure is printed on standard error with its rank, and the
/// result is not 0. Wrong options (an engine that does not exist, TUTTI_RANKS=0, an MPI job without its
/// module) are reported the same way.
int run(const run_options& options, const std::function<void(communicator&)>& program, std::nothrow_t);
inline int run(int argc, char** argv, const std::function<void(communicator&)>& program) {
  run_options options;
  options.argc = argc;
  options.argv = argv;
  return run(options, program, std::nothrow);
}

/// The same for programs that want the exception: throws rank_error when a rank threw, usage_error or
/// engine_error when the ranks could not be made.
void run(const run_options& options, const std::function<void(communicator&)>& program);

}  // namespace tutti
