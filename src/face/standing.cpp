// SPDX-License-Identifier: Apache-2.0
//
// Who may use the communicators of a rank, and until when: the thread that carries the rank
// (fabric/carried.hpp), until the program has returned on it. What others hold of them afterwards,
// or on other threads, is refused, and can be let go of.
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

void core::join_living() noexcept {
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

void rank_state::end() noexcept {
  for (core* one = left_behind.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
    core* const next = one->behind_left_;
    delete one;
    one = next;
  }
  while (core* const one = living) {
    one->close();
    one->leave_living();
  }
  active.clear();
  carrier.store(&fabric::ended, std::memory_order_release);
  door = nullptr;
}

}  // namespace tutti::detail
