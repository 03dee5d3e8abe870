// SPDX-License-Identifier: Apache-2.0
//
// What this library keeps of the process between MPI_Init and MPI_Finalize: the door over all ranks, what is
// known of datatypes, operators and communicators, what is under way. The entry points are functions of C
// without an argument that could hold it, so it stands in a variable; beside it the process has the table
// that is looked at first (communicator_table_in_use) and two numbers of calls that MPI's callbacks change
// (pending_calls.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "communicator/rank_state.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "frontends/preload/call_comparison.hpp"
#include "frontends/preload/communicator_table.hpp"
#include "frontends/preload/quiet_errors.hpp"
#include "frontends/preload/statistics.hpp"

namespace tutti::preload {

class pending_calls;

struct process {
  process(MPI_Comm alone, bool threads);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  /// Makes the member's group of tutti's where there is none yet. Local: no message, nothing waits.
  void open(known_communicator& of);

  const bool threads;  ///< several of the program's threads may call
  /// Held by whoever is in tutti, where there are several.
  turns turn;
  MPI_Comm alone;  ///< of this process; returns its errors
  error_handlers handlers;
  datatypes types;
  operators ops;
  communicator_names named;
  communicator_table all;
  std::shared_ptr<detail::rank_state> shared;
  mpi::mpi_endpoint* ep = nullptr;
  std::unique_ptr<pending_calls> begun;
  std::unique_ptr<comparisons> compared;    ///< null: calls are not compared
  bool begins = true;                       ///< nonblocking calls too are served
  std::unique_ptr<statistics> told;         ///< null: nobody asks
  std::atomic<bool> handles_errors{false};  ///< the program has set an error handler
};

/// While tutti calls MPI. MPICH tells the handler of MPI_COMM_WORLD of a message that is too long, whatever
/// communicator it was sent on; the program is to hear of it by the handler of its own communicator, once.
/// Where it has set none, all handlers end the job alike.
class own_errors {
 public:
  explicit own_errors(process& p)
      : quiet_(p.handlers, reports_to_world && p.handles_errors.load(std::memory_order_relaxed)) {}

 private:
#ifdef MPICH_VERSION
  static constexpr bool reports_to_world = true;
#else
  static constexpr bool reports_to_world = false;
#endif
  quiet_errors quiet_;
};

/// Null before MPI_Init and after MPI_Finalize, and where tutti cannot serve this program.
inline std::atomic<process*> running{nullptr};

/// What MPI_Init and MPI_Finalize do besides.
void begin_process();
void end_process();

}  // namespace tutti::preload
