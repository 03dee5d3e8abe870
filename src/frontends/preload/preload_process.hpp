// SPDX-License-Identifier: Apache-2.0
//
// The state of the process between MPI_Init and MPI_Finalize. It holds the endpoint over all ranks,
// the known datatypes, operators and communicators, and the pending calls. The entry points are C
// functions without an argument for it, so a global variable points to it. Two more globals exist.
// One is the table that is read first (communicator_cache). The others are two numbers of
// calls, which MPI's callbacks change (pending_calls.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "communicator/make_communicators.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "frontends/preload/call_comparison.hpp"
#include "frontends/preload/communicator_table.hpp"
#include "frontends/preload/quiet_errors.hpp"
#include "frontends/preload/statistics.hpp"

namespace tutti::preload {

class pending_calls;

struct process {
  process(MPI_Comm self_comm, bool multithreaded);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  /// Makes the communicator's group of tutti if there is none. Local: no message, no wait.
  void open(communicator_info& of);

  const bool multithreaded;  ///< several threads of the program may call
  /// With several threads, the thread that runs tutti holds it.
  optional_mutex mutex;
  MPI_Comm self_comm;  ///< a communicator of this process only; returns its errors
  error_handlers handlers;
  datatypes types;
  operators ops;
  communicator_names names;
  communicator_table communicators;
  std::shared_ptr<const selection> by;  ///< the trees and overrides in force
  std::uint32_t engine_conditions = 0;  ///< of `by`, as bits
  bool forces_choices = false;          ///< `by` has an override
  /// Of the last topologies; unused if several threads of the program may call.
  std::vector<std::shared_ptr<shared_decisions>> decisions;
  std::shared_ptr<detail::rank_state> shared;
  mpi::mpi_endpoint* ep = nullptr;
  std::unique_ptr<pending_calls> pending;
  std::unique_ptr<call_comparison> comparison;  ///< null: calls are not compared
  bool serves_nonblocking = true;               ///< tutti also serves nonblocking calls
  std::unique_ptr<statistics> stats;            ///< null: no statistics are requested
  std::atomic<bool> handles_errors{false};      ///< the program has set an error handler
};

/// Exists while tutti calls MPI. MPICH reports a message that is too long to the handler of
/// MPI_COMM_WORLD, whatever its communicator. The program must get the error from the handler of
/// its own communicator, once. If it has set no handler, all handlers end the job in the same way.
class internal_errors {
 public:
  explicit internal_errors(process& p)
      : quiet_(p.handlers, reports_to_world && p.handles_errors.load(std::memory_order_relaxed)) {}

 private:
#ifdef MPICH_VERSION
  static constexpr bool reports_to_world = true;
#else
  static constexpr bool reports_to_world = false;
#endif
  quiet_errors quiet_;
};

/// Null before MPI_Init and after MPI_Finalize, and if tutti cannot serve this program.
inline std::atomic<process*> current_process{nullptr};
inline process* current() noexcept { return current_process.load(std::memory_order_acquire); }

/// Tutti's part of MPI_Init and MPI_Finalize.
void begin_process();
void end_process();

}  // namespace tutti::preload
