// SPDX-License-Identifier: Apache-2.0
//
// Until when a communicator lives. Any thread may hold and drop it, but only the thread that
// carries its rank destroys it (transport/shm/current_rank.hpp). When the program has returned on
// that thread, the communicator loses its part of the engine; then any thread may destroy it.
#include <memory>
#include <string>

#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void* communicator_impl::operator new(std::size_t bytes, rank_state& shared) {
  if (shared.spare_memory.empty()) return ::operator new(bytes);
  void* const memory = shared.spare_memory.back();
  shared.spare_memory.pop_back();
  return memory;
}

void* communicator_impl::operator new(std::size_t bytes) { return ::operator new(bytes); }
void communicator_impl::operator delete(void* memory, rank_state&) noexcept { ::operator delete(memory); }
void communicator_impl::operator delete(void* memory) noexcept { ::operator delete(memory); }

void communicator_impl::operator delete(communicator_impl* gone, std::destroying_delete_t) noexcept {
  gone->p2p_.close();
  gone->unlink_alive();
  const std::shared_ptr<rank_state> shared = gone->state_.leave_rank();
  gone->~communicator_impl();
  if (!shared->over() && shared->spare_memory.size() < shared->spare_memory.capacity())
    shared->spare_memory.push_back(gone);
  else
    ::operator delete(gone);
}

void keep(communicator_impl& c) noexcept { c.keep(); }
void drop(communicator_impl& c) noexcept { c.drop(); }

// If another thread drops the last holder, the rank's own thread destroys the object later.
void communicator_impl::drop() noexcept {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  rank_state& shared = state_.of_rank();
  if (shared.runs_here() || shared.over()) {
    shared.end_left_behind();  // this may be the program's last one, and they keep its job
    delete this;
    return;
  }
  next_left_ = shared.left_behind.load(std::memory_order_relaxed);
  while (!shared.left_behind.compare_exchange_weak(next_left_, this, std::memory_order_release)) {
  }
}

communicator_handle moved_from() noexcept {
  static communicator_impl* const nobody = [] {
    auto shared = std::make_shared<rank_state>();
    shared->running_thread.store(&shm::no_rank, std::memory_order_relaxed);
    return new communicator_impl(shared, group::range(0, 1, 1, 0), group_name{});
  }();
  nobody->keep();
  return communicator_handle(nobody);
}

// A communicator is made on the rank's own thread, which then destroys those that other threads
// left.
void communicator_impl::link_alive() noexcept {
  rank_state& shared = state_.of_rank();
  shared.end_left_behind();
  behind_ = shared.living;
  if (behind_ != nullptr) behind_->before_ = this;
  shared.living = this;
}

void communicator_impl::unlink_alive() noexcept {
  rank_state& shared = state_.of_rank();
  if (before_ != nullptr)
    before_->behind_ = behind_;
  else if (shared.living == this)
    shared.living = behind_;
  if (behind_ != nullptr) behind_->before_ = before_;
  before_ = behind_ = nullptr;
}

// Memory alone is left, which goes with the last holder.
void communicator_impl::end_run() noexcept {
  p2p_.close();
  state_.close();
  unlink_alive();
}

void rank_state::end_calls() {
  for (std::size_t i = 0; i < active.size();) {
    progressable* const one = active[i];
    if (dynamic_cast<schedule_run*>(one) == nullptr && dynamic_cast<composite_run*>(one) == nullptr) {
      ++i;
      continue;
    }
    living->state().guarded([&] { finish(*one); });
    std::erase(active, one);
    i = 0;
  }
}

// The caller holds this object, so the last of the communicators does not destroy it.
void rank_state::end_left_behind() noexcept {
  if (left_behind.load(std::memory_order_relaxed) == nullptr) return;
  for (communicator_impl* one = left_behind.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
    communicator_impl* const next = one->next_left();
    delete one;
    one = next;
  }
}

void rank_state::end() noexcept {
  end_left_behind();
  while (living != nullptr) living->end_run();
  active.clear();
  running_thread.store(&shm::ended, std::memory_order_release);
  ep = nullptr;
}

}  // namespace tutti::detail
