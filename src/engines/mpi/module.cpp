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
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

const char* library_version() {
  static const std::string text = [] {  // MPI allows this call at any time
    char said[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(said, &length);
    std::string all(said, static_cast<std::size_t>(length));
    return all.substr(0, all.find_first_of("\r\n"));
  }();
  return text.c_str();
}

// The rank of this process, while the program runs. running_in is the process, because a forked
// child has a copy.
std::atomic<mpi_endpoint*> running{nullptr};
std::atomic<pid_t> running_in{0};

// Called by exit(), before MPI's own handler, because it was registered later. Otherwise the other
// ranks would wait for this rank for ever, or the launcher would take its end for a normal one.
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
    const outcome own = failure_of(ep.rank());
    ep.failed(own.what, own.text);
  }
  return ep.end();
}

// A process has one MPI and one run of its ranks. A second run inside it would wait for ranks that
// do not come. An example is an LPF program, whose other ranks wait for lpf_exec().
std::atomic<bool> under_way{false};

class only_run {
 public:
  only_run() {
    if (under_way.exchange(true))
      throw engine_error("run", -1, "", "a run over MPI is already in progress in this process",
                         "use its communicator; a program for LPF that calls run() by itself defines "
                         "LPF_MPI_AUTO_INITIALIZE as 0");
  }
  ~only_run() { under_way = false; }
  only_run(const only_run&) = delete;
  only_run& operator=(const only_run&) = delete;
};

outcome run(int argc, char** argv, const launch& how, const rank_program& program) {
  const only_run alone;
  outcome result;
  int begun = 0, over = 0;
  bool must_finalize = false;
  std::exception_ptr refused;  // no rank has failed; the ranks cannot start, and all ranks know it
  try {
    check(MPI_Initialized(&begun), "run", -1);
    check(MPI_Finalized(&over), "run", -1);
    if (over) throw engine_error("run", -1, "", "MPI was finalized before", "call run() once in a process");
    if (!begun) {
      int provided = 0;
      check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "run", -1);
      must_finalize = true;
    }
    const returned_errors guard;
    std::optional<mpi_endpoint> ep;
    try {
      ep.emplace(MPI_COMM_WORLD, how.check);
      ep->report_by(how.report);
    } catch (const usage_error& e) {
      refused = std::current_exception();
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      if (rank == 0 && how.report) how.report(-1, e.what());
      if (rank != 0 && how.another_reports) how.another_reports();
      MPI_Barrier(MPI_COMM_WORLD);  // launchers end the job with the first process that ends
    }
    if (ep) result = ranks_program(*ep, program);
  } catch (const std::exception& e) {
    result = {0, e.what(), std::current_exception()};
    if (must_finalize) MPI_Comm_rank(MPI_COMM_WORLD, &result.failed_rank);
  }
  if (must_finalize) MPI_Finalize();
  if (refused) std::rethrow_exception(refused);
  return result;
}

}  // namespace
}  // namespace tutti::mpi

extern "C" {
extern __attribute__((visibility("default"))) const tutti::engine_module tutti_engine_module;
const tutti::engine_module tutti_engine_module = {tutti::engine_abi, TUTTI_MPI_NAME,
                                                  &tutti::mpi::library_version, &tutti::mpi::run};
}
