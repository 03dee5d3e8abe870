// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking collectives that tutti has begun. The program holds an MPI generalized request for
// each. So one MPI_Waitall can take them together with other requests. MPI does not progress such a
// request. Therefore all functions that wait or test in MPI progress these calls first
// (wait_test.cpp).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "frontends/preload/communicator_table.hpp"
#include "frontends/preload/translated_call.hpp"
#include "transport/endpoint.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::preload {

struct process;
class pending_calls;

/// One such call. The program may free its communicator, datatypes and operator meanwhile.
struct nonblocking_call {
  nonblocking_call(pending_calls& all, datatypes& types, operators& ops)
      : translated(types, ops), owner(all) {}

  translated_call translated;
  std::shared_ptr<communicator_info> communicator;
  detail::pending_call run;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  std::chrono::steady_clock::time_point began;
  std::thread::id thread;
  pending_calls& owner;
};

class pending_calls final : public rank_progress {
 public:
  explicit pending_calls(process& p) : p_(p) {}
  ~pending_calls();
  pending_calls(const pending_calls&) = delete;
  pending_calls& operator=(const pending_calls&) = delete;

  /// Returns an object for the translation of a call. It must be begun or dropped.
  nonblocking_call& acquire();
  void recycle(nonblocking_call& one);
  /// Begins a translated call and sets `request` for the program. Errors are returned with the
  /// completion of the request.
  void begin(nonblocking_call& one, std::shared_ptr<communicator_info> m, MPI_Request* request);
  /// Whether no call is in progress, as in nearly all waits.
  static bool empty() noexcept { return communicator_cache::pending.load(std::memory_order_relaxed) == 0; }
  /// The number of failed calls whose requests the program has not completed. Their errors have
  /// been reported.
  static std::size_t failures() noexcept { return failures_.load(std::memory_order_relaxed); }
  /// Publishes the number of calls in progress, including comparisons of checked mode. Call it
  /// after each change.
  void publish_count() noexcept;
  /// Progresses all calls, and completes the requests of those that are over.
  void progress() override;
  void wait_all();
  /// Makes a blocking MPI call: a collective on `comm`, or a call on no communicator (null). If the
  /// engine can progress pending calls inside it, they progress meanwhile. Otherwise drain()
  /// completes them before. `waits_for_all`: false for calls that no other rank must make, such as
  /// MPI_Win_lock.
  int call_blocking(MPI_Comm comm, bool waits_for_all, int (*call)(void*), void* state);

  /// Called before this thread enters a blocking MPI call in which tutti cannot progress. Other
  /// ranks may wait for the pending calls of this rank before they enter that call. All ranks of
  /// the call's communicator have begun the pending calls on it, so these end. Calls on other
  /// communicators may be begun elsewhere only after the blocking call. The wait for them ends
  /// after ten seconds, with a report.
  void drain(MPI_Comm comm);

  /// Exists while tutti runs or progresses a call. MPI may have called the program inside
  /// call_blocking(), and the program this library. Then MPI must not progress the same calls.
  class progress_blocker {
   public:
    explicit progress_blocker(pending_calls& all) noexcept;
    ~progress_blocker();
    progress_blocker(const progress_blocker&) = delete;
    progress_blocker& operator=(const progress_blocker&) = delete;

   private:
    pending_calls& all_;
    const bool inside_mpi_;
  };

 private:
  static int query(void* extra, MPI_Status* status);
  static int free_request(void* extra);
  static int cancel(void* extra, int complete);
  void finish(nonblocking_call& one, int code);
  bool has_pending(MPI_Comm comm);
  int report_failure(const nonblocking_call& one) noexcept;
  // MPI may call back when all other objects are destroyed.
  static inline std::atomic<std::size_t> failures_{0};

  process& p_;
  std::vector<nonblocking_call*> all_;        // in the order in which they were begun
  bool warned_ = false;                       // drain() has reported that it gave up
  bool inside_mpi_ = false;                   // in an MPI call that progresses these calls
  std::vector<nonblocking_call*> free_list_;  // ended objects, for reuse; with one thread only
};

/// After some failed tries, each pause yields the core.
class backoff {
 public:
  void pause() noexcept;

 private:
  int tries_ = 0;
};

}  // namespace tutti::preload
