// SPDX-License-Identifier: Apache-2.0
//
// The state that all communicators of one rank share: its endpoint, its settings, and the
// operations under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <vector>

#include "communicator/peer_rejections.hpp"
#include "runtime/executor/progressable.hpp"
#include "runtime/settings/active_trees.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/trace/trace.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/current_rank.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/deferred_rejections.hpp"

namespace tutti::detail {

class communicator_impl;
class communicator_state;

struct override_use {
  std::size_t obeyed = 0, unfit = 0;  // calls that followed it, and calls that it does not serve
  bool reported = false;
};

struct rank_state;

/// The operations under way on the other communicators that this thread has adopted, as one object
/// that a wait progresses.
class progress_other_jobs final : public progressable {
 public:
  bool advance(bool) override;
  void work() override;
  std::uint64_t progress_count() const noexcept override { return progress_count_; }
  shm::wait_site site(const char* what, int) const noexcept override {
    return {"progress", "", what, -1, -1, shm::wait_site::unnumbered};
  }

  /// Joins the adopted communicators of the calling thread. Each then knows all others. Only for an
  /// MPI below MPI_THREAD_MULTIPLE, since their lists are used without a lock.
  void join(rank_state& self);
  void leave(rank_state& self) noexcept;
  /// This communicator has begun an operation. The waits of the others progress it from here on.
  void announce() {
    if (!others_.empty()) [[unlikely]]
      add_to_others();
  }

 private:
  void add_to_others();
  std::vector<rank_state*> others_;
  std::uint64_t progress_count_ = 0;
};

/// The state that all communicators of one rank share.
struct rank_state final : rank_progress {
  std::unique_ptr<endpoint> owned;  // null if an engine's run() owns it
  endpoint* ep = nullptr;
  current_call current;  // of the program
  settings config;
  std::shared_ptr<const selection> by;  // null: only the fallback in code
  std::uint64_t next_id = 2;            // of communicators; the world has 1
  std::vector<progressable*> active;    // what every wait of this rank progresses
  std::vector<override_use> uses;       // three for each collective; empty before the first
  std::uint32_t engine_conditions = 0;
  std::unique_ptr<call_trace> trace;  // on rank 0, if TUTTI_TRACE requests it
  unsigned task_trace_count = 0;      // number written
  // Memory of destroyed communicators, for programs that make groups in loops.
  static constexpr std::size_t max_spare = 16;
  std::vector<void*> spare_memory;

  progress_other_jobs other_jobs;

  /// From here on every wait progresses `one`, until it is removed from `active`.
  void add_active(progressable& one) {
    active.push_back(&one);
    other_jobs.announce();
  }
  /// Progresses everything that is under way but `except`. `waits`: in a blocking wait, which also
  /// runs kernels that only this thread can run and other ranks may wait for.
  void progress_others(const progressable* except, bool waits);
  void progress() override { progress_others(nullptr, true); }
  /// Waits for one operation, and progresses all others of this rank meanwhile.
  void finish(progressable& one);

  // The thread whose shm::current_rank is `running_thread` may use this rank's communicators. If
  // MPI permits it, any thread may, one at a time. While there are rejections, the word is
  // shm::rejecting_identity.
  shm::rank_identity self;
  std::atomic<const shm::rank_identity*> running_thread{nullptr};
  bool any_thread = false;
  peer_rejections rejections{running_thread};
  int calls_that_defer_rejections = 0;  // objects of deferred_rejections
  /// `one` runs this rank until end(). From here on other ranks may send rejections.
  void begin(const shm::rank_identity* one) {
    rejections.run_by(one);
    ep->receive_rejections(&rejections);
  }
  bool may_call_here() const noexcept {
    const auto* whose = running_thread.load(std::memory_order_relaxed);
    if (whose == &shm::rejecting_identity) whose = rejections.runner();
    return whose == shm::current_rank ||
           (any_thread && whose != &shm::ended_run_identity && shm::current_rank != &shm::kernel_identity);
  }
  bool over() const noexcept {
    return running_thread.load(std::memory_order_acquire) == &shm::ended_run_identity;
  }
  communicator_impl* communicators = nullptr;        // list of this rank's communicators
  std::atomic<communicator_impl*> dropped{nullptr};  // list of those that other threads dropped

  void begin_trace();
  /// The engine reads `current` for its reports, until it is given another or this object is
  /// destroyed.
  void use(endpoint& one) noexcept {
    ep = &one;
    one.set_current_call(&current);
  }
  /// Throws peer_error if a rejection is due, at the beginning of a call on `where`. The call
  /// `awaited` of that communicator, unless null, is not over yet: the next call throws its
  /// rejection.
  void throw_rejections(const char* operation, const communicator_state& where, const std::uint32_t* awaited);
  /// Destroys the communicators that other threads dropped. Only on the rank's own thread.
  void destroy_dropped() noexcept;
  /// Waits for the calls that the program has left under way, since other ranks wait for them.
  void end_calls();
  /// The program has returned on this rank. Its communicators lose their part of the engine, and
  /// every later call on them throws usage_error.
  void end() noexcept;

  rank_state() = default;
  ~rank_state();

  override_use& use_of(collective what, override_kind kind);
  override_use use_of(collective what, override_kind kind) const;
};

/// Prints on standard error the overrides that no call used, and how often selection fell back. For
/// rank 0, at the end.
void report_unused_overrides(const rank_state& state);

}  // namespace tutti::detail
