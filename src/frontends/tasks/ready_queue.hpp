// SPDX-License-Identifier: Apache-2.0
//
// The nodes of one rank from their creation to their removal: those that wait, those that can run,
// and those that are complete. Kernels wait in a list from which every worker takes; the other
// nodes wait in a list of the rank's own thread.
//
// task_graph and the tables of transfers create nodes and release them. A node calls complete().
// task_graph calls run_one(), start_rank_thread_nodes() and reap() while it inserts, progresses or
// waits. Other workers come from a worker_pool. The queue calls it when there are more kernels than
// active workers. A worker returns when there are no kernels.
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
  /// Destroys the remaining nodes.
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
  /// The number of nodes that exist.
  std::size_t pending() const noexcept { return pending_; }
  /// Runs a kernel, if one is ready.
  bool run_one();
  /// Starts the ready nodes that only this thread runs. Returns false if there are none.
  bool start_rank_thread_nodes() {
    if (rank_thread_nodes_.load(std::memory_order_relaxed) == nullptr) return false;
    start_all_rank_thread_nodes();
    return true;
  }
  /// Removes the complete nodes.
  void reap() noexcept {
    if (complete_.load(std::memory_order_relaxed) != nullptr) reap_all();
  }
  /// Grows whenever start_rank_thread_nodes() or reap() has found nodes.
  std::uint64_t steps() const noexcept { return steps_; }

  /// Waits until no other worker is active. The queue calls no worker afterwards.
  void stop() noexcept;
  bool has_pool() const noexcept { return pool_ != nullptr; }
  /// The state of the other workers.
  enum class worker_state : std::uint8_t {
    idle,          // no worker is active, and no kernel is ready
    running,       // at least one worker is active
    kernels_ready  // no worker is active, but a kernel is ready
  };
  worker_state other_workers();
  /// Whether this thread has something to do besides kernels.
  bool has_rank_thread_work() const noexcept {
    return complete_.load() != nullptr || rank_thread_nodes_.load() != nullptr;
  }
  /// Whether a node is ready or complete. Only while no other worker runs.
  bool has_work() const noexcept { return has_rank_thread_work() || first_ != nullptr; }
  /// Sleeps until another worker completes a node; at most 100 microseconds.
  void sleep_until_complete();

  // --- any thread
  /// One of the conditions for which the node waits is met.
  void release(node& n) noexcept {
    if (n.pending_dependencies.fetch_sub(1, std::memory_order_acq_rel) == 1) make_ready(n);
  }
  /// The node is complete. Releases its successors.
  void complete(node& n) noexcept;
  failure_log& failures() noexcept { return failures_; }
  void count_kernel() noexcept { kernels_run_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t kernels_run() const noexcept { return kernels_run_.load(std::memory_order_relaxed); }

 private:
  void make_ready(node& n) noexcept;
  node* pop() noexcept;
  void run(node& n, int worker) noexcept;
  void start_all_rank_thread_nodes();
  void reap_all() noexcept;
  static void worker_main(void* self);

  node_pool store_;
  std::size_t pending_ = 0;
  std::uint64_t steps_ = 0;
  failure_log& failures_;
  task_trace* trace_;
  int workers_;

  std::unique_ptr<worker_pool> pool_;
  node *first_ = nullptr, *last_ = nullptr;        // ready kernels
  std::atomic<node*> complete_{nullptr};           // complete nodes
  std::atomic<node*> rank_thread_nodes_{nullptr};  // ready nodes of the rank's own thread
  std::atomic<bool> sleeping_{false}, stopping_{false};
  std::atomic<std::uint64_t> kernels_run_{0};

  std::mutex mutex_;                     // of first_, last_ and active_workers_, if there is a pool
  std::atomic<std::uint32_t> ready_{0};  // kernels, if there is a pool
  int active_workers_ = 0;               // other workers that run, or are called
  std::vector<int> free_worker_ids_;     // for the trace
  std::mutex sleep_mutex_;
  std::condition_variable completed_;
};

}  // namespace tutti::tasks
