// SPDX-License-Identifier: Apache-2.0
//
// What all communicators of one rank share: its door to the engine, what the environment says, what is under
// way.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <vector>

#include "runtime/executor/progressable.hpp"
#include "runtime/settings/active_trees.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/trace/trace.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/current_rank.hpp"

namespace tutti::detail {

class communicator_impl;

struct override_use {
  std::size_t obeyed = 0, unfit = 0;  // choices made by it, and in spite of it
  bool reported = false;
};

struct rank_state;

/// What is under way on the other communicators that this thread has adopted, as one thing that a wait
/// progresses.
class progress_other_jobs final : public progressable {
 public:
  bool go_on(bool) override;
  void work() override;
  std::uint64_t moves() const noexcept override { return moves_; }
  shm::wait_site site(const char* what, int) const noexcept override {
    return {"progress", "", what, -1, -1, shm::wait_site::unnumbered};
  }

  /// Of the adopted communicators of one thread each knows the others'. Of that thread, and only over an MPI
  /// below MPI_THREAD_MULTIPLE: the others' lists are used without a lock.
  void join(rank_state& own);
  void leave(rank_state& own) noexcept;
  /// This communicator has begun something: the others' waits progress it.
  void announce() {
    if (!others_.empty()) [[unlikely]]
      enter_others();
  }

 private:
  void enter_others();
  std::vector<rank_state*> others_;
  std::uint64_t moves_ = 0;
};

/// What all communicators of one rank share.
struct rank_state final : rank_progress {
  std::unique_ptr<endpoint> owned;  // where no engine's run() owns it
  endpoint* ep = nullptr;
  std::source_location place;  // of the current call in the program (tutti/detail/call_site.hpp)
  settings set;
  std::shared_ptr<const selection> by;  // left null: the fallback in code alone
  std::uint64_t next_id = 2;            // of communicators; 1 is the job itself
  std::vector<progressable*> active;    // what every wait of this rank progresses
  std::vector<override_use> uses;       // three for each collective; empty until there is one
  std::uint32_t engine_conditions = 0;
  std::unique_ptr<call_trace> trace;  // of rank 0, where TUTTI_TRACE asks for it
  unsigned traces_of_tasks = 0;       // that were written
  // Memory of communicators that are gone: groups come and go in loops.
  static constexpr std::size_t max_cores = 16;
  std::vector<void*> cores;

  progress_other_jobs other_jobs;

  /// What every wait progresses from now on, until it is taken out of `active`.
  void add_active(progressable& one) {
    active.push_back(&one);
    other_jobs.announce();
  }
  /// Goes on with what is under way, but for `except`. `waits`: in a blocking wait, which also runs what only
  /// this thread can run and others may wait for.
  void progress_others(const progressable* except, bool waits);
  void progress() override { progress_others(nullptr, true); }
  /// Waits for one operation, and progresses all others of this rank meanwhile.
  void finish(progressable& one);

  // Who may use this rank's communicators: the thread whose shm::current_rank is `running_thread`. Over an
  // MPI that allows it, any thread, one at a time.
  shm::rank_identity self;
  std::atomic<const shm::rank_identity*> running_thread{nullptr};
  bool any_thread = false;
  bool runs_here() const noexcept {
    const auto* const whose = running_thread.load(std::memory_order_relaxed);
    return whose == shm::current_rank ||
           (any_thread && whose != &shm::ended && shm::current_rank != &shm::in_kernel);
  }
  bool over() const noexcept { return running_thread.load(std::memory_order_acquire) == &shm::ended; }
  communicator_impl* living = nullptr;                   // all communicators of this rank, a list
  std::atomic<communicator_impl*> left_behind{nullptr};  // whose last holder was another thread

  void begin_trace();
  /// The engine reads the place for its reports, until its read_place() is given another or this state goes.
  void use(endpoint& one) noexcept {
    ep = &one;
    one.read_place(&place);
  }
  /// Ends the communicators that were left behind. Of the rank's own thread.
  void end_left_behind() noexcept;
  /// Waits for the calls that the program has left under way, as their destructors would: others wait for
  /// them.
  void end_calls();
  /// The rank has come to the end of the program. Its communicators lose what is the engine's, and what the
  /// program still has of them throws usage_error from here on.
  void end() noexcept;

  rank_state() = default;
  ~rank_state();

  override_use& use_of(collective what, override_kind kind);
  override_use use_of(collective what, override_kind kind) const;
};

/// Tells on standard error what nothing used, and how often choices fell back; for rank 0, at the end.
void report_unused_overrides(const rank_state& state);

}  // namespace tutti::detail
