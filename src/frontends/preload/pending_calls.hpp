// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking collectives that tutti has begun. The program holds a generalized request of MPI's for each, so
// its requests are MPI's own kind and go with all others in one MPI_Waitall. MPI does nothing for such a
// request; so whatever waits or tests in MPI lets these calls go on first (wait_test.cpp).
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
struct begun_call {
  begun_call(pending_calls& all, datatypes& types, operators& ops) : translated(types, ops), among(all) {}

  translated_call translated;
  std::shared_ptr<known_communicator> of;
  detail::pending_call run;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  std::chrono::steady_clock::time_point began;
  std::thread::id by;
  pending_calls& among;
};

class pending_calls final : public rank_progress {
 public:
  explicit pending_calls(process& p) : p_(p) {}
  ~pending_calls();
  pending_calls(const pending_calls&) = delete;
  pending_calls& operator=(const pending_calls&) = delete;

  /// One to lay a call in: to be begun, or dropped.
  begun_call& fresh();
  void drop(begun_call& one);
  /// Begins a laid call; `request` is the program's. Its errors come with the request's completion.
  void begin(begun_call& one, std::shared_ptr<known_communicator> of, MPI_Request* request);
  /// Nothing is: the way of nearly all who wait.
  static bool none() noexcept {
    return communicator_table_in_use::begun.load(std::memory_order_relaxed) == 0;
  }
  /// Those that have failed, whose requests the program has not seen complete. Their errors have been told.
  static std::size_t failures() noexcept { return failures_.load(std::memory_order_relaxed); }
  /// Says how many are under way, comparisons of checked mode among them; after each change.
  void count() noexcept;
  /// Lets all go on, and completes the requests of those that are over.
  void go_on();
  void wait_all();
  void progress() override { go_on(); }
  /// Makes a call of MPI's own that blocks: a collective on `comm`, or on none (null). Calls under way go on
  /// meanwhile if the engine can progress them inside of it; else they are settled before.
  /// `waits_for_all`: not of a call that no other rank has to make, such as MPI_Win_lock.
  int beside(MPI_Comm comm, bool waits_for_all, int (*call)(void*), void* state);

  /// Before this thread enters a call of MPI's that blocks, and lets nothing of tutti's go on: others may
  /// wait for what this rank has begun before they enter it. All on the communicator of that call have been
  /// begun by all its ranks, so they end. What is on another may be begun there after that call alone; it is
  /// given up after ten seconds, which is told.
  void settle(MPI_Comm comm);

  /// While tutti is at work. MPI may have called the program within a call of beside()'s, and the program
  /// this library; MPI is then not to progress what is at work.
  class alone {
   public:
    explicit alone(pending_calls& all) noexcept;
    ~alone();
    alone(const alone&) = delete;
    alone& operator=(const alone&) = delete;

   private:
    pending_calls& all_;
    const bool inside_;
  };

 private:
  static int query(void* extra, MPI_Status* status);
  static int let_go(void* extra);
  static int cancel(void* extra, int complete);
  void finish(begun_call& one, int code);
  bool calls_left(MPI_Comm comm);
  int failure_is_reported(const begun_call& one) noexcept;
  static inline std::atomic<std::size_t> failures_{0};  // MPI's callback may come when all else is gone

  process& p_;
  std::vector<begun_call*> all_;   // in the order in which they were begun
  bool said_ = false;              // that settle() gave up
  bool inside_ = false;            // MPI, in a call in which it progresses these
  std::vector<begun_call*> idle_;  // that are over, for the next ones; of one thread
};

/// A rank that has tried in vain for a while leaves its core to others.
class patience {
 public:
  void pause() noexcept;

 private:
  int tries_ = 0;
};

}  // namespace tutti::preload
