// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/ready_queue.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "communicator/internal_calls.hpp"
#include "engines/embedded/sleep.hpp"
#include "frontends/tasks/kernel_node.hpp"

namespace tutti::tasks {

using namespace tutti::detail;

ready_queue::ready_queue(failure_log& failures, int workers, std::unique_ptr<worker_pool> pool,
                         task_trace* trace)
    : failures_(failures), trace_(trace), workers_(workers), pool_(std::move(pool)) {
  if (trace != nullptr)
    for (int i = 1; i < workers; ++i) free_worker_ids_.push_back(i);
}

void ready_queue::stop() noexcept {
  stopping_.store(true);
  const auto any = [&] {
    const std::lock_guard<std::mutex> held(mutex_);
    return active_workers_ > 0;
  };
  while (pool_ != nullptr && any()) std::this_thread::yield();
  pool_.reset();
}

// --- any thread

void ready_queue::make_ready(node& n) noexcept {
  if (!n.any_worker) return push(rank_thread_nodes_, n);
  n.next = nullptr;
  if (pool_ == nullptr) {
    (last_ != nullptr ? last_->next : first_) = &n;
    last_ = &n;
    return;
  }
  bool call = false;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    (last_ != nullptr ? last_->next : first_) = &n;
    last_ = &n;
    ready_.fetch_add(1, std::memory_order_relaxed);
    if (active_workers_ < workers_ - 1) {
      ++active_workers_;
      call = true;
    }
  }
  if (call) pool_->enqueue(worker_main, this);
}

node* ready_queue::pop() noexcept {
  if (pool_ == nullptr) {
    node* const n = first_;
    if (n != nullptr && (first_ = n->next) == nullptr) last_ = nullptr;
    return n;
  }
  if (ready_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard<std::mutex> held(mutex_);
  node* const n = first_;
  if (n == nullptr) return nullptr;
  if ((first_ = n->next) == nullptr) last_ = nullptr;
  ready_.fetch_sub(1, std::memory_order_relaxed);
  return n;
}

void ready_queue::complete(node& n) noexcept {
  edge* e = reversed(n.successors.exchange(node::complete_marker(), std::memory_order_acq_rel));
  while (e != nullptr) {
    edge* const next = e->next;  // its node owns the edge, and may be complete soon
    release(*e->to);
    e = next;
  }
  push(complete_, n);
  if (sleeping_.load(std::memory_order_seq_cst)) {
    const std::lock_guard<std::mutex> held(sleep_mutex_);
    completed_.notify_one();
  }
}

void ready_queue::run(node& n, int worker) noexcept {
  const shm::scoped_kernel here;
  if (trace_ == nullptr) {
    n.start(*this);
  } else {
    const auto began = task_trace::clock::now();
    const auto* const kernel = dynamic_cast<kernel_node*>(&n);
    const char* const name = kernel == nullptr           ? "combine"
                             : kernel->name() != nullptr ? kernel->name()
                                                         : "task";
    n.start(*this);
    trace_->add(worker, task_trace::kind::task, name, began, task_trace::clock::now());
  }
  complete(n);
}

// Another worker runs kernels until there are none. It spins briefly before it leaves, because new
// kernels often follow.
void ready_queue::worker_main(void* self) {
  ready_queue& me = *static_cast<ready_queue*>(self);
  int id = 1;
  if (me.trace_ != nullptr) {
    const std::lock_guard<std::mutex> held(me.mutex_);
    id = me.free_worker_ids_.back();
    me.free_worker_ids_.pop_back();
  }
  for (;;) {
    while (node* const n = me.stopping_.load(std::memory_order_relaxed) ? nullptr : me.pop()) me.run(*n, id);
    for (int i = 0; i < 500 && me.ready_.load(std::memory_order_relaxed) == 0; ++i) relax();
    const std::lock_guard<std::mutex> held(me.mutex_);
    if (me.first_ != nullptr && !me.stopping_.load(std::memory_order_relaxed)) continue;
    if (me.trace_ != nullptr) me.free_worker_ids_.push_back(id);
    --me.active_workers_;
    return;
  }
}

// --- the rank's own thread

bool ready_queue::run_one() {
  node* const n = pop();
  if (n == nullptr) return false;
  run(*n, 0);
  return true;
}

void ready_queue::reap_all() noexcept {
  node* n = complete_.exchange(nullptr, std::memory_order_seq_cst);
  ++steps_;
  while (n != nullptr) {
    node* const next = n->next;
    n->on_complete();
    store_.destroy(n);
    --pending_;
    n = next;
  }
}

void ready_queue::start_all_rank_thread_nodes() {
  for (node* n = reversed(rank_thread_nodes_.exchange(nullptr, std::memory_order_acquire)); n != nullptr;) {
    node* const next = n->next;
    n->start(*this);
    n = next;
  }
  ++steps_;
}

ready_queue::worker_state ready_queue::other_workers() {
  if (pool_ == nullptr) return worker_state::idle;
  const std::lock_guard<std::mutex> held(mutex_);
  if (active_workers_ > 0) return worker_state::running;
  return first_ != nullptr ? worker_state::kernels_ready : worker_state::idle;
}

void ready_queue::sleep_until_complete() {
  std::unique_lock<std::mutex> held(sleep_mutex_);
  sleeping_.store(true, std::memory_order_seq_cst);
  if (complete_.load(std::memory_order_seq_cst) == nullptr)
    completed_.wait_for(held, std::chrono::microseconds(100));
  sleeping_.store(false, std::memory_order_relaxed);
}

}  // namespace tutti::tasks
