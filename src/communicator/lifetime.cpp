// SPDX-License-Identifier: Apache-2.0
//
// The lifetime of a communicator. Any thread may copy and drop references to it, but only the
// thread that runs its rank destroys it (transport/shm/current_rank.hpp). When the program has
// returned on that thread, the communicator loses its part of the engine; then any thread may
// destroy it.
#include <map>
#include <memory>
#include <new>
#include <utility>

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

void communicator_impl::operator delete(communicator_impl* object, std::destroying_delete_t) noexcept {
  object->p2p_.close();
  if (object->state_.has_rejection_context())
    object->state_.this_rank().rejections.end_context(
        object->state_.rejection_context(), [&](const rejection& r) { return object->calls_.state_of(r); });
  object->unlink();
  const std::shared_ptr<rank_state> shared = object->state_.release_rank();
  object->~communicator_impl();
  if (!shared->over() && shared->spare_memory.size() < shared->spare_memory.capacity())
    shared->spare_memory.push_back(object);
  else
    ::operator delete(object);
}

void add_reference(communicator_impl& c) noexcept { c.add_reference(); }
void drop_reference(communicator_impl& c) noexcept { c.drop_reference(); }

// If another thread drops the last reference, the rank's own thread destroys the object later.
void communicator_impl::drop_reference() noexcept {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  rank_state& shared = state_.this_rank();
  const bool moved_from = shared.running_thread.load(std::memory_order_relaxed) == &shm::no_rank;
  if (shared.may_call_here() || shared.over() || moved_from) {
    shared.destroy_dropped();  // if this is the program's last one, they still hold its job
    delete this;
    return;
  }
  next_dropped_ = shared.dropped.load(std::memory_order_relaxed);
  while (!shared.dropped.compare_exchange_weak(next_dropped_, this, std::memory_order_release)) {
  }
}

namespace {

// The handles that moved_from() has returned on this thread, by rank. Each thread and rank has its
// own, because each has the slot for the location of one call.
struct moved_from_handles {
  std::map<int, communicator_handle> of_rank;
  ~moved_from_handles() { over = true; }
  static inline thread_local bool over = false;
};

communicator_handle make_moved_from(int rank) {
  auto shared = std::make_shared<rank_state>();
  shared->running_thread.store(&shm::no_rank, std::memory_order_relaxed);
  return communicator_handle(new communicator_impl(shared, group::range(0, 1, rank + 1, rank), group_name{}));
}

communicator_handle moved_from(int rank) {
  if (moved_from_handles::over) return make_moved_from(rank);  // the thread ends
  thread_local moved_from_handles made;
  communicator_handle& handle = made.of_rank[rank];
  if (!handle) handle = make_moved_from(rank);
  return handle;
}

}  // namespace

communicator_handle move_from(communicator_handle& from, int rank) noexcept {
  try {
    return std::exchange(from, moved_from(rank));
  } catch (const std::bad_alloc&) {
    return from;
  }
}

// A communicator is made on the rank's own thread, which then destroys those that other threads
// dropped.
void communicator_impl::link() noexcept {
  rank_state& shared = state_.this_rank();
  shared.destroy_dropped();
  next_ = shared.communicators;
  if (next_ != nullptr) next_->prev_ = this;
  shared.communicators = this;
}

void communicator_impl::unlink() noexcept {
  rank_state& shared = state_.this_rank();
  if (prev_ != nullptr)
    prev_->next_ = next_;
  else if (shared.communicators == this)
    shared.communicators = next_;
  if (next_ != nullptr) next_->prev_ = prev_;
  prev_ = next_ = nullptr;
}

// The last reference frees the memory.
void communicator_impl::end_run() noexcept {
  p2p_.close();
  state_.close();
  unlink();
}

void rank_state::end_calls() {
  for (std::size_t i = 0; i < active.size();) {
    progressable* const one = active[i];
    if (dynamic_cast<schedule_run*>(one) == nullptr && dynamic_cast<composite_run*>(one) == nullptr) {
      ++i;
      continue;
    }
    communicators->state().guarded([&] { finish(*one); });
    std::erase(active, one);
    i = 0;
  }
}

// The caller holds this object, so the last of the communicators does not destroy it.
void rank_state::destroy_dropped() noexcept {
  if (dropped.load(std::memory_order_relaxed) == nullptr) return;
  for (communicator_impl* one = dropped.exchange(nullptr, std::memory_order_acquire); one != nullptr;) {
    communicator_impl* const next = one->next_dropped();
    delete one;
    one = next;
  }
}

void rank_state::end() noexcept {
  destroy_dropped();
  while (communicators != nullptr) communicators->end_run();
  active.clear();
  if (ep != nullptr) ep->receive_rejections(nullptr);
  running_thread.store(&shm::ended_run_identity, std::memory_order_release);
  ep = nullptr;
}

}  // namespace tutti::detail
