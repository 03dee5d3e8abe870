// SPDX-License-Identifier: Apache-2.0
//
// A node of the graph of one rank: a task, a transfer, or the program's own use of data. A node
// begins when all nodes before it are complete. The rank's own thread inserts and removes nodes.
// Any worker may complete a node, which makes the nodes ready that waited for it (ready_queue.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace tutti::tasks {

class ready_queue;
struct node;

/// `to` waits for the node that has this edge in its list.
struct edge {
  node* to = nullptr;
  edge* next = nullptr;
};

struct node {
  /// The nodes that wait for this one; complete_marker() when this one is complete.
  std::atomic<edge*> successors{nullptr};
  /// The number of nodes that it waits for, and one more until it is released.
  std::atomic<std::int32_t> pending_dependencies{1};
  node* next = nullptr;   // in a list of the ready queue
  const bool any_worker;  // any worker runs it, because it is a kernel; else the rank's thread

  explicit node(bool any) noexcept : any_worker(any) {}
  virtual ~node() = default;
  node(const node&) = delete;

  /// A kernel runs, on any thread, and is then complete. Any other node starts, on the rank's
  /// thread, and calls complete() itself.
  virtual void start(ready_queue& queue) = 0;
  /// Called on the rank's thread when the node is complete.
  virtual void on_complete() noexcept {}
  /// Releases what the node uses. Called after on_complete(), or if the runtime ends before the
  /// node is complete.
  virtual void release_resources() noexcept {}
  /// The text by which a report names the node.
  virtual std::string description() const { return "a task"; }

  static edge* complete_marker() noexcept { return reinterpret_cast<edge*>(std::uintptr_t{1}); }

  /// Begins after `other` is complete. Called by the rank's thread before this node is released.
  void wait_for(node& other) {
    edge* newest = other.successors.load(std::memory_order_acquire);
    if (newest == complete_marker()) return;
    edge& e = new_edge();
    e.to = this;
    pending_dependencies.fetch_add(1, std::memory_order_relaxed);
    do {
      if (newest == complete_marker()) {
        pending_dependencies.fetch_sub(1, std::memory_order_relaxed);
        --edges_;
        return;
      }
      e.next = newest;
    } while (!other.successors.compare_exchange_weak(newest, &e, std::memory_order_release,
                                                     std::memory_order_acquire));
  }

 private:
  static constexpr std::uint32_t max_inline_edges = 6;
  edge& new_edge() {
    const std::uint32_t n = edges_++;
    if (n < max_inline_edges) return inline_edges_[n];
    // The lists of other nodes link edges, so edges do not move.
    if ((n - max_inline_edges) % 64 == 0) {
      edge_block* const block = new edge_block;
      block->prev = std::move(overflow_);
      overflow_.reset(block);
    }
    return overflow_->edges[(n - max_inline_edges) % 64];
  }
  struct edge_block {
    edge edges[64];
    std::unique_ptr<edge_block> prev;
  };

  std::uint32_t edges_ = 0;
  edge inline_edges_[max_inline_edges];
  std::unique_ptr<edge_block> overflow_;
};

/// Reverses a list that begins with the newest element.
template <class Link>
Link* reversed(Link* newest) noexcept {
  Link* first = nullptr;
  while (newest != nullptr) {
    Link* const older = newest->next;
    newest->next = first;
    first = newest;
    newest = older;
  }
  return first;
}

/// Many threads push nodes, and one thread removes all of them. The operations are sequentially
/// consistent, because a thread tests the stack again before it sleeps.
inline void push(std::atomic<node*>& stack, node& n) noexcept {
  node* newest = stack.load(std::memory_order_relaxed);
  do {
    n.next = newest;
  } while (!stack.compare_exchange_weak(newest, &n, std::memory_order_seq_cst, std::memory_order_relaxed));
}

/// Memory for nodes in slots of one size. Slots are reused, and freed with the pool. Each slot
/// counts the nodes that it has held.
class node_pool {
 public:
  static constexpr std::size_t slot_bytes = 512;
  static constexpr std::size_t header_bytes = 16;
  static constexpr std::size_t max_node_bytes = slot_bytes - header_bytes;

  template <class Node, class... Arguments>
  Node* make(Arguments&&... arguments) {
    static_assert(sizeof(Node) <= max_node_bytes && alignof(Node) <= header_bytes);
    Node* const made = new (allocate()) Node(std::forward<Arguments>(arguments)...);
    header_of(made)->live = true;
    return made;
  }
  void destroy(node* over) noexcept {
    header* const h = header_of(over);
    over->release_resources();
    over->~node();
    h->live = false;
    ++h->generation;
    h->next = free_;
    free_ = h;
  }
  /// Destroys the remaining nodes.
  ~node_pool() {
    for (const auto& s : slabs_)
      for (std::size_t at = 0; at < sizeof s->bytes; at += slot_bytes)
        if (auto* const h = reinterpret_cast<header*>(s->bytes + at); h->live)
          destroy(reinterpret_cast<node*>(s->bytes + at + header_bytes));
  }
  node_pool() = default;
  node_pool(const node_pool&) = delete;
  static std::uint32_t generation(const node* n) noexcept { return header_of(n)->generation; }

 private:
  struct header {
    header* next;
    std::uint32_t generation;
    bool live;
  };
  static_assert(sizeof(header) <= header_bytes);
  static header* header_of(const node* n) noexcept {
    return reinterpret_cast<header*>(reinterpret_cast<std::uintptr_t>(n) - header_bytes);
  }
  void* allocate() {
    if (free_ == nullptr) grow();
    header* const h = free_;
    free_ = h->next;
    return reinterpret_cast<std::byte*>(h) + header_bytes;
  }
  void grow() {
    constexpr std::size_t at_once = 64;
    slabs_.push_back(std::make_unique<slab>());
    std::byte* at = slabs_.back()->bytes;
    for (std::size_t i = at_once; i-- > 0;) free_ = new (at + i * slot_bytes) header{free_, 0, false};
  }
  struct slab {
    alignas(64) std::byte bytes[64 * slot_bytes];
  };
  std::vector<std::unique_ptr<slab>> slabs_;
  header* free_ = nullptr;
};

/// A reference to a node that may be complete and destroyed.
struct node_ref {
  node* ptr = nullptr;
  std::uint32_t generation = 0;

  node_ref() noexcept = default;
  explicit node_ref(node* n) noexcept : ptr(n), generation(node_pool::generation(n)) {}
  /// Null if the node is complete.
  node* get() const noexcept {
    return ptr != nullptr && node_pool::generation(ptr) == generation ? ptr : nullptr;
  }
};

}  // namespace tutti::tasks
