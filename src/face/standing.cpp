// SPDX-License-Identifier: Apache-2.0
//
// Who holds the communicators of a rank, who may use them, and until when: the thread that carries
// the rank (fabric/carried.hpp), until the program has returned on it. What others hold of them
// afterwards, or on other threads, is refused, and can be let go of.
#include <memory>
#include <string>

#include "face/core.hpp"
#include "tutti/core/error.hpp"

namespace tutti::detail {

// Also reached where any thread may call.
void core::refuse_uncarried(const char* operation) const {
  if (shared_->carried_here()) return;
  if (shared_->carrier.load(std::memory_order_relaxed) == &fabric::nobodys)
    throw usage_error(operation, -1, "communicator", "was moved from",
                      "use the one that it was moved to; a copy leaves both usable");
  if (shared_->over())
    refuse(operation, "communicator", "is used after its run has ended",
           "use it, and its requests, before the program that run() calls returns");
  if (fabric::carried == &fabric::in_kernel)
    refuse(operation, "communicator", "is used in a kernel of a task",
           "call it from the rank's own thread; a kernel uses the data that it is given");
  const std::string own = "rank " + std::to_string(shared_->self.rank);
  if (fabric::carried != nullptr && fabric::carried->rank >= 0)
    refuse(operation, "communicator",
           "belongs to " + own + ", and is used by rank " + std::to_string(fabric::carried->rank),
           "each rank uses the communicators that it was given, and what it has made of them");
  refuse(operation, "communicator", "is used by a thread that does not carry " + own,
         "call it from the thread on which the program was called; other threads hand their data to that");
}

// A request that is destroyed where no call may be made. False: it stays, since it is still under
// way.
bool core::let_go_elsewhere(bool under_way, const char* operation) noexcept {
  if (shared_->over() || !under_way) return true;
  try {
    const usage_error what(operation, rank(), "request",
                           "is destroyed while it is under way, by a thread that does not carry rank " +
                               std::to_string(shared_->self.rank),
                           "wait for it on the thread that has begun it");
    if (door().node() == nullptr) door().kill_job(what.what());
    door().abandon(std::make_exception_ptr(what));
  } catch (...) {
    // No memory for the text: the rank's own next call will wait for ever, or not.
  }
  return false;
}

void keep(core& c) noexcept { c.holders_.fetch_add(1, std::memory_order_relaxed); }

// What the last holder lets go of on another thread waits for the rank's own.
void drop(core& c) noexcept {
  if (c.holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  rank_state& shared = *c.shared_;
  if (shared.carried_here() || shared.over()) {
    shared.end_left_behind();  // it may be the last one that the program has, and they keep its job
    delete &c;
    return;
  }
  c.behind_left_ = shared.left_behind.load(std::memory_order_relaxed);
  while (!shared.left_behind.compare_exchange_weak(c.behind_left_, &c, std::memory_order_release)) {
  }
}

core_handle moved_from() noexcept {
  static core* const nobody = [] {
    auto shared = std::make_shared<rank_state>();
    shared->carrier.store(&fabric::nobodys, std::memory_order_relaxed);
    return new core(shared, group::range(0, 1, 1, 0), group_name{});
  }();
  keep(*nobody);
  return core_handle(nobody);
}

// Whoever makes a communicator is on the rank's own thread, which ends those that others have let go of.
void core::join_living() noexcept {
  shared_->end_left_behind();
  behind_ = shared_->living;
  if (behind_ != nullptr) behind_->before_ = this;
  shared_->living = this;
}

void core::leave_living() noexcept {
  if (before_ != nullptr)
    before_->behind_ = behind_;
  else if (shared_->living == this)
    shared_->living = behind_;
  if (behind_ != nullptr) behind_->before_ = before_;
  before_ = behind_ = nullptr;
}

// What is the engine's goes with the run; what is memory alone goes with the last holder.
void core::close() noexcept {
  end_mail();
  links_.reset();
  where_.reset();
}

void rank_state::end_calls() {
  for (std::size_t i = 0; i < active.size();) {
    progressing* const one = active[i];
    if (dynamic_cast<schedule_run*>(one) == nullptr && dynamic_cast<program_run*>(one) == nullptr) {
      ++i;
      continue;
    }
    living->guarded([&] { living->finish(*one); });
    std::erase(active, one);
    i = 0;
  }
}

// Whoever calls this holds the state, so it does not go with the last of them.
void rank_state::end_left_behind() noexcept {
  if (left_behind.load(std::memory_order_relaxed) == nullptr) return;
  for (core* one = left_behind.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
    core* const next = one->behind_left_;
    delete one;
    one = next;
  }
}

void rank_state::end() noexcept {
  end_left_behind();
  while (core* const one = living) {
    one->close();
    one->leave_living();
  }
  active.clear();
  carrier.store(&fabric::ended, std::memory_order_release);
  door = nullptr;
}

}  // namespace tutti::detail
