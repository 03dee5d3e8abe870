// SPDX-License-Identifier: Apache-2.0
//
// Who holds the communicators of a rank, who may use them, and until when: the thread that carries
// the rank (transport/shm/current_rank.hpp), until the program has returned on it. What others hold of them
// afterwards, or on other threads, is refused, and can be let go of.
#include <memory>
#include <string>

#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

// Also reached where any thread may call.
void communicator_impl::refuse_thread(const char* operation) const {
  if (shared_->runs_here()) return;
  if (shared_->running_thread.load(std::memory_order_relaxed) == &shm::no_rank)
    throw usage_error(operation, -1, "communicator", "was moved from",
                      "use the communicator that it was moved to, or copy instead of moving");
  if (shared_->over())
    refuse(operation, "communicator", "is used after its run has ended",
           "use it, and its requests, before the program that run() calls returns");
  if (shm::current_rank == &shm::in_kernel)
    refuse(operation, "communicator", "is used in a kernel of a task",
           "call it from the rank's own thread; a kernel uses the data that it is given");
  const std::string own = "rank " + std::to_string(shared_->self.rank);
  if (shm::current_rank != nullptr && shm::current_rank->rank >= 0)
    refuse(operation, "communicator",
           "belongs to " + own + ", but is used by rank " + std::to_string(shm::current_rank->rank),
           "use on each rank only the communicators that the rank was given or has created");
  refuse(operation, "communicator", "is used by a thread that does not run " + own,
         "call it from the thread that runs the rank's program, and pass the data of other threads to that "
         "thread");
}

// A request that is destroyed where no call may be made. False: it stays, since it is still under
// way.
bool communicator_impl::release_on_other_thread(bool under_way, const char* operation) noexcept {
  if (shared_->over() || !under_way) return true;
  try {
    const usage_error what(operation, rank(), "request",
                           "is destroyed while it is in progress, by a thread that does not run rank " +
                               std::to_string(shared_->self.rank),
                           "wait for it on the thread that started it");
    if (ep().node() == nullptr) ep().kill_job(what.what());
    ep().abandon(std::make_exception_ptr(what));
  } catch (...) {
    // No memory for the text: the rank's own next call will wait for ever, or not.
  }
  return false;
}

void keep(communicator_impl& c) noexcept { c.holders_.fetch_add(1, std::memory_order_relaxed); }

// What the last holder lets go of on another thread waits for the rank's own.
void drop(communicator_impl& c) noexcept {
  if (c.holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  rank_state& shared = *c.shared_;
  if (shared.runs_here() || shared.over()) {
    shared.end_left_behind();  // it may be the last one that the program has, and they keep its job
    delete &c;
    return;
  }
  c.next_left_ = shared.left_behind.load(std::memory_order_relaxed);
  while (!shared.left_behind.compare_exchange_weak(c.next_left_, &c, std::memory_order_release)) {
  }
}

communicator_handle moved_from() noexcept {
  static communicator_impl* const nobody = [] {
    auto shared = std::make_shared<rank_state>();
    shared->running_thread.store(&shm::no_rank, std::memory_order_relaxed);
    return new communicator_impl(shared, group::range(0, 1, 1, 0), group_name{});
  }();
  keep(*nobody);
  return communicator_handle(nobody);
}

// Whoever makes a communicator is on the rank's own thread, which ends those that others have let go of.
void communicator_impl::link_alive() noexcept {
  shared_->end_left_behind();
  behind_ = shared_->living;
  if (behind_ != nullptr) behind_->before_ = this;
  shared_->living = this;
}

void communicator_impl::unlink_alive() noexcept {
  if (before_ != nullptr)
    before_->behind_ = behind_;
  else if (shared_->living == this)
    shared_->living = behind_;
  if (behind_ != nullptr) behind_->before_ = before_;
  before_ = behind_ = nullptr;
}

// What is the engine's goes with the run; what is memory alone goes with the last holder.
void communicator_impl::close() noexcept {
  end_p2p();
  links_.reset();
  where_.reset();
}

void rank_state::end_calls() {
  for (std::size_t i = 0; i < active.size();) {
    progressable* const one = active[i];
    if (dynamic_cast<schedule_run*>(one) == nullptr && dynamic_cast<composite_run*>(one) == nullptr) {
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
  for (communicator_impl* one = left_behind.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
    communicator_impl* const next = one->next_left_;
    delete one;
    one = next;
  }
}

void rank_state::end() noexcept {
  end_left_behind();
  while (communicator_impl* const one = living) {
    one->close();
    one->unlink_alive();
  }
  active.clear();
  running_thread.store(&shm::ended, std::memory_order_release);
  ep = nullptr;
}

}  // namespace tutti::detail
