// SPDX-License-Identifier: Apache-2.0
#include "engines/fibers/worker.hpp"

#include <bit>

#include <cxxabi.h>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tutti::detail {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

exception_state& thread_exceptions() noexcept {
  return *reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

}  // namespace

worker::worker(job& all, shm::node& n, int index, wait_policy p, std::uint64_t seed)
    : job_(all), node_(n), index_(index), policy_(p), seed_(seed), random_(seed) {}

void worker::add(int rank, void* top, const void* bottom, std::size_t size) {
  if (fibers_.empty()) first_rank_ = rank;
  fiber f;
  f.rank = rank;
  f.stack_bottom = bottom;
  f.stack_size = size;
  f.context = make_fcontext(top, size, &worker::enter);
  fibers_.push_back(f);
}

inline void worker::push_ready(fiber* f) {
  if (f->queued) return;
  f->queued = true;
  ring_[(head_ + count_++) & ring_mask_] = f;
}

// Returns null if no fiber is ready.
inline fiber* worker::pop_ready() {
  if (count_ == 0) return nullptr;
  if (seed_ != 0 && count_ > 1) [[unlikely]] {
    const std::size_t pick = random_() % count_;
    std::swap(ring_[head_ & ring_mask_], ring_[(head_ + pick) & ring_mask_]);
  }
  fiber* f = ring_[head_++ & ring_mask_];
  --count_;
  f->queued = false;
  return f;
}

// Chooses the fiber that runs next.
inline fiber* worker::next() {
  fiber* const f = pop_ready();
  return f != nullptr ? f : wait_for_next();
}

void worker::run(const std::function<void(int)>& body) {
  body_ = &body;
  exceptions_ = &thread_exceptions();
  alive_ = fibers_.size();
  only_worker_ = alive_ == static_cast<std::size_t>(node_.size());
  ring_.resize(std::bit_ceil(fibers_.size() + 1));
  ring_mask_ = ring_.size() - 1;
  remote_.reserve(fibers_.size());
  for (fiber& f : fibers_) push_ready(&f);
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  void* bottom = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  main_.stack_bottom = bottom;
  main_.stack_size = size;
#endif
  current_ = &main_;
  if (alive_ != 0) switch_to(*next());
}

// The entry function of a fiber.
void worker::enter(transfer_t from) {
  auto* self = static_cast<worker*>(from.data);
  self->finish_switch(from);
  fiber& me = *self->current_;
  (*self->body_)(me.rank);
  me.finished = true;
  --self->alive_;
  if (self->alive_ == 0) {
    self->switch_to(self->main_);
  } else {
    self->switch_to(*self->next());
  }
  __builtin_unreachable();
}

void worker::switch_to(fiber& target) {
  fiber& from = *current_;
  if (&target == &from) return;
  from.exceptions = *exceptions_;
  *exceptions_ = target.exceptions;
  from.current_rank = shm::current_rank;
  shm::current_rank = target.current_rank;
  current_ = &target;
  jump(target.context, from, target.stack_bottom, target.stack_size);
}

void worker::jump(fcontext_t to, fiber& from, [[maybe_unused]] const void* bottom,
                  [[maybe_unused]] std::size_t size) {
  previous_ = &from;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(from.finished ? nullptr : &from.fake_stack, bottom, size);
#endif
  const transfer_t t = jump_fcontext(to, this);
  finish_switch(t);
}

// Runs on the new stack. Stores where the previous fiber stopped.
void worker::finish_switch(transfer_t t) {
  previous_->context = t.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(current_->fake_stack, nullptr, nullptr);
#endif
}

void worker::ready(int rank) { push_ready(&fibers_[static_cast<std::size_t>(rank - first_rank_)]); }

void worker::poll_remote() {
  for (std::size_t i = 0; i < remote_.size();) {
    fiber* f = remote_[i];
    if (shm::reached(f->word->load(std::memory_order_acquire), f->value) || job_.failed()) {
      remote_[i] = remote_.back();
      remote_.pop_back();
      push_ready(f);
    } else {
      ++i;
    }
  }
}

// No fiber is ready: polls for other workers.
fiber* worker::wait_for_next() {
  for (std::uint64_t rounds = 0;; ++rounds) {
    if (fiber* f = pop_ready()) return f;
    poll_remote();
    if (count_ != 0) continue;
    if (job_.failed()) {
      for (fiber& f : fibers_)
        if (!f.finished) push_ready(&f);
      continue;
    }
    idle(rounds);
  }
}

void worker::idle(std::uint64_t rounds) {
  if (only_worker_) {  // no other worker runs ranks, so all fibers here wait for ever
    job_.declare_deadlock();
    return;
  }
  if (rounds < static_cast<std::uint64_t>(policy_.spins)) {
    relax();
  } else if (rounds < static_cast<std::uint64_t>(policy_.spins + policy_.yields)) {
    yield_core();
  } else {
    sleep_unless(node_.worker_wakeup(index_), [&] {
      poll_remote();
      return count_ != 0 || job_.failed();
    });
  }
}

void worker::wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool local) {
  fiber& me = *current_;
  if (local) {
    node_.rank_wakeup(me.rank).armed.store(1, std::memory_order_relaxed);
  } else {
    me.word = &word;
    me.value = value;
    remote_.push_back(&me);
  }
  switch_to(*next());
  if (local)
    node_.rank_wakeup(me.rank).armed.store(0, std::memory_order_relaxed);
  else if (me.word != nullptr)
    me.word = nullptr;
}

void worker::yield() {
  poll_remote();
  push_ready(current_);
  switch_to(*next());
}

}  // namespace tutti::detail
