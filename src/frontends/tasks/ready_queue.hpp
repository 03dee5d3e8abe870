// SPDX-License-Identifier: Apache-2.0
//
// The nodes of one rank from their creation to their removal: those that wait, those that can run,
// and those that are complete. Kernels wait in a list from which every worker takes; the other
// nodes wait in a list of the rank's own thread.
//
// task_graph and the tables of transfers create nodes and release them. A node calls complete().
// task_graph calls run_one(), begin_own() and reap() while it inserts, progresses or waits. Other
// workers come from a worker_pool, which the queue calls when there are more kernels than running
// workers; they leave when there are none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "frontends/tasks/failure_log.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "frontends/tasks/task_trace.hpp"
#include "frontends/tasks/worker_pool.hpp"

namespace tutti::tasks {

class ready_queue {
 public:
  /// `workers` includes the rank's own thread; `pool` has the others, and is null if there are
  /// none. `trace` is null if nothing is traced.
  ready_queue(failure_log& failures, int workers, std::unique_ptr<worker_pool> pool = nullptr,
              task_trace* trace = nullptr);
  /// Destroys the nodes that are left.
  ~ready_queue() { stop(); }
  ready_queue(const ready_queue&) = delete;
  ready_queue& operator=(const ready_queue&) = delete;

  // --- the rank's own thread
  /// A new node. It waits until it is released, and for the nodes for which wait_for() makes it
  /// wait.
  template <class Node, class... Arguments>
  Node& make(Arguments&&... arguments) {
    Node* const made = store_.make<Node>(static_cast<Arguments&&>(arguments)...);
    ++pending_;
    return *made;
  }
  /// How many nodes exist.
  std::size_t pending() const noexcept { return pending_; }
  /// Runs a kernel, if one is ready.
  bool run_one();
  /// Begins the ready nodes that only this thread runs; false if there are none.
  bool begin_own() {
    if (own_.load(std::memory_order_relaxed) == nullptr) return false;
    begin_all_own();
    return true;
  }
  /// Removes the complete nodes.
  void reap() noexcept {
    if (complete_.load(std::memory_order_relaxed) != nullptr) reap_all();
  }
  /// Grows whenever begin_own() or reap() has found nodes.
  std::uint64_t steps() const noexcept { return steps_; }

  /// Waits until the other workers have left. They come no more.
  void stop() noexcept;
  bool has_pool() const noexcept { return pool_ != nullptr; }
  /// What the other workers do.
  enum class others : std::uint8_t {
    absent,       // none runs, and no kernel is ready
    run_kernels,  // at least one runs
    kernels_wait  // none runs, but a kernel is ready
  };
  others look_at_others();
  /// Whether this thread has something to do besides kernels.
  bool has_own() const noexcept { return complete_.load() != nullptr || own_.load() != nullptr; }
  /// Whether a node is ready or complete. Only while no other worker runs.
  bool has_any() const noexcept { return has_own() || first_ != nullptr; }
  /// Sleeps until another worker completes a node; at most 100 microseconds.
  void sleep_until_complete();

  // --- any thread
  /// One of the conditions for which the node waits is met.
  void release(node& n) noexcept {
    if (n.waits.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(n);
  }
  /// The node is complete: releases the nodes behind it.
  void complete(node& n) noexcept;
  failure_log& failures() noexcept { return failures_; }
  void count_kernel() noexcept { kernels_run_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t kernels_run() const noexcept { return kernels_run_.load(std::memory_order_relaxed); }

 private:
  void make_ready(node& n) noexcept;
  node* pop() noexcept;
  void run(node& n, int worker) noexcept;
  void begin_all_own();
  void reap_all() noexcept;
  static void help(void* self);

  node_store store_;
  std::size_t pending_ = 0;
  std::uint64_t steps_ = 0;
  failure_log& failures_;
  task_trace* trace_;
  int workers_;

  std::unique_ptr<worker_pool> pool_;
  node *first_ = nullptr, *last_ = nullptr;  // ready kernels
  std::atomic<node*> complete_{nullptr};     // nodes
  std::atomic<node*> own_{nullptr};          // ready nodes of the rank's own thread
  std::atomic<bool> sleeping_{false}, stopping_{false};
  std::atomic<std::uint64_t> kernels_run_{0};

  std::mutex lock_;                      // of first_, last_ and helpers_, if there is a pool
  std::atomic<std::uint32_t> ready_{0};  // kernels, if there is a pool
  int helpers_ = 0;                      // other workers that run, or are called
  std::vector<int> helper_ids_;          // free ones, for the trace
  std::mutex sleep_lock_;
  std::condition_variable completed_;
};

}  // namespace tutti::tasks
