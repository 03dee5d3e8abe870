// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on the ranks of an MPI job, of which this process is one. Built once for each MPI.
// The core library, which links no MPI, loads it.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <unistd.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/returned_errors.hpp"
#include "transport/shm/shared_arena.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

const char* library_version() {
  static const std::string text = [] {  // MPI allows this call at any time
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    std::string all(version, static_cast<std::size_t>(length));
    return all.substr(0, all.find_first_of("\r\n"));
  }();
  return text.c_str();
}

// The rank of this process, while the program runs. running_in is the process, because a forked
// child has a copy.
std::atomic<mpi_endpoint*> running{nullptr};
std::atomic<pid_t> running_in{0};

// Called by exit(), before MPI's own handler, because it was registered later. Otherwise the other
// ranks would wait for this rank for ever, or the launcher would treat its end as a normal one.
// MPICH's MPI_Abort also calls exit().
void at_exit(int status, void*) {
  if (running_in.load() != getpid()) return;
  mpi_endpoint* const ep = running.exchange(nullptr);
  if (ep == nullptr || ep->size() == 1 || ep->aborts()) return;
  std::fflush(stdout);
  ep->kill_job("called exit(" + std::to_string(status) +
               ") while other ranks run; return from the program instead, or throw");
}

outcome ranks_program(mpi_endpoint& ep, const rank_program& program) {
  static const int registered = on_exit(at_exit, nullptr);
  static_cast<void>(registered);
  running_in = getpid();
  running = &ep;
  try {
    program(ep);
    running = nullptr;
  } catch (...) {
    running = nullptr;
    const outcome failure = failure_of(ep.rank());
    ep.failed(failure.what, failure.text);
  }
  return ep.end();
}

// A process has one MPI and one run of its ranks. A second run inside it would wait for ranks that
// never join it. An example is an LPF program, whose other ranks wait for lpf_exec().
std::atomic<bool> run_in_progress{false};

class single_run_guard {
 public:
  single_run_guard() {
    if (run_in_progress.exchange(true))
      throw engine_error("run", -1, "", "a run over MPI is already in progress in this process",
                         "use its communicator; a program for LPF that calls run() by itself defines "
                         "LPF_MPI_AUTO_INITIALIZE as 0");
  }
  ~single_run_guard() { run_in_progress = false; }
  single_run_guard(const single_run_guard&) = delete;
  single_run_guard& operator=(const single_run_guard&) = delete;
};

outcome run(int argc, char** argv, const launch& how, const rank_program& program) {
  const single_run_guard guard_of_run;
  outcome result;
  int initialized = 0, finalized = 0;
  bool must_finalize = false;
  std::exception_ptr start_error;  // the ranks cannot start, and all ranks know it
  try {
    check(MPI_Initialized(&initialized), "run", -1);
    check(MPI_Finalized(&finalized), "run", -1);
    if (finalized)
      throw engine_error("run", -1, "", "MPI was finalized before", "call run() once in a process");
    if (!initialized) {
      node_memory::prepare_process();
      int provided = 0;
      check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "run", -1);
      must_finalize = true;
    }
    const returned_errors guard;
    std::optional<mpi_endpoint> ep;
    try {
      ep.emplace(MPI_COMM_WORLD, how.check);
      ep->set_reporter(how.report);
    } catch (const usage_error& e) {
      start_error = std::current_exception();
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 0 && how.report) how.report(-1, e.what());
      if (rank != 0 && how.reported_elsewhere) how.reported_elsewhere();
      MPI_Barrier(MPI_COMM_WORLD);  // launchers end the job with the first process that ends
    }
    if (ep) result = ranks_program(*ep, program);
  } catch (const std::exception& e) {
    result = {0, e.what(), std::current_exception()};
    if (must_finalize) MPI_Comm_rank(MPI_COMM_WORLD, &result.failed_rank);
  }
  if (must_finalize) MPI_Finalize();
  if (start_error) std::rethrow_exception(start_error);
  return result;
}

}  // namespace
}  // namespace tutti::mpi

extern "C" {
extern TUTTI_API const tutti::detail::engine_module tutti_engine_module;
const tutti::detail::engine_module tutti_engine_module = {tutti::detail::engine_abi, TUTTI_MPI_NAME,
                                                          &tutti::mpi::library_version, &tutti::mpi::run,
                                                          &tutti::shm::shared_arena::use};
}
