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
  /// The nodes that wait for this one; closed() when this one is complete.
  std::atomic<edge*> behind{nullptr};
  /// How many nodes it waits for, and one more until it is released.
  std::atomic<std::int32_t> waits{1};
  node* next = nullptr;  // in a list of the ready queue
  const bool anywhere;   // any worker runs it: a kernel; only the rank's thread runs the others

  explicit node(bool any) noexcept : anywhere(any) {}
  virtual ~node() = default;
  node(const node&) = delete;

  /// A kernel runs, on any thread, and is then complete. Another node begins, on the rank's thread,
  /// and calls complete() itself.
  virtual void go(ready_queue& by) = 0;
  /// What follows a complete node, on the rank's thread.
  virtual void end() noexcept {}
  /// Drops what the node uses: after end(), or if the runtime ends before the node is complete.
  virtual void let_go() noexcept {}
  /// How a report names what it waits for.
  virtual std::string what() const { return "a task"; }

  static edge* closed() noexcept { return reinterpret_cast<edge*>(std::uintptr_t{1}); }

  /// Begins after `other` is complete. Called by the rank's thread before this node is released.
  void wait_for(node& other) {
    edge* head = other.behind.load(std::memory_order_acquire);
    if (head == closed()) return;
    edge& e = new_edge();
    e.to = this;
    waits.fetch_add(1, std::memory_order_relaxed);
    do {
      if (head == closed()) {
        waits.fetch_sub(1, std::memory_order_relaxed);
        --edges_;
        return;
      }
      e.next = head;
    } while (
        !other.behind.compare_exchange_weak(head, &e, std::memory_order_release, std::memory_order_acquire));
  }

 private:
  static constexpr std::uint32_t inside = 6;
  edge& new_edge() {
    const std::uint32_t n = edges_++;
    if (n < inside) return inline_edges_[n];
    // The lists of other nodes link edges, so edges do not move.
    if ((n - inside) % 64 == 0) {
      edge_block* const block = new edge_block;
      block->before = std::move(more_);
      more_.reset(block);
    }
    return more_->edges[(n - inside) % 64];
  }
  struct edge_block {
    edge edges[64];
    std::unique_ptr<edge_block> before;
  };

  std::uint32_t edges_ = 0;
  edge inline_edges_[inside];
  std::unique_ptr<edge_block> more_;
};

/// Reverses a list that begins with the newest element.
template <class Link>
Link* in_order(Link* newest) noexcept {
  Link* first = nullptr;
  while (newest != nullptr) {
    Link* const older = newest->next;
    newest->next = first;
    first = newest;
    newest = older;
  }
  return first;
}

/// Many threads add nodes, one takes all of them. Sequentially consistent: a thread that is about
/// to sleep looks once more.
inline void put_on(std::atomic<node*>& pile, node& n) noexcept {
  node* newest = pile.load(std::memory_order_relaxed);
  do {
    n.next = newest;
  } while (!pile.compare_exchange_weak(newest, &n, std::memory_order_seq_cst, std::memory_order_relaxed));
}

/// Memory for nodes in slots of one size. Slots are reused, and freed with the store. Each slot
/// counts the nodes that it has held.
class node_store {
 public:
  static constexpr std::size_t slot_bytes = 512;
  static constexpr std::size_t header_bytes = 16;
  static constexpr std::size_t most = slot_bytes - header_bytes;

  template <class Node, class... Arguments>
  Node* make(Arguments&&... arguments) {
    static_assert(sizeof(Node) <= most && alignof(Node) <= header_bytes);
    Node* const made = new (take()) Node(std::forward<Arguments>(arguments)...);
    header_of(made)->live = true;
    return made;
  }
  void give_back(node* over) noexcept {
    header* const h = header_of(over);
    over->let_go();
    over->~node();
    h->live = false;
    ++h->generation;
    h->next = unused_;
    unused_ = h;
  }
  /// Destroys the nodes that are left.
  ~node_store() {
    for (const auto& s : slabs_)
      for (std::size_t at = 0; at < sizeof s->bytes; at += slot_bytes)
        if (auto* const h = reinterpret_cast<header*>(s->bytes + at); h->live)
          give_back(reinterpret_cast<node*>(s->bytes + at + header_bytes));
  }
  node_store() = default;
  node_store(const node_store&) = delete;
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
  void* take() {
    if (unused_ == nullptr) grow();
    header* const h = unused_;
    unused_ = h->next;
    return reinterpret_cast<std::byte*>(h) + header_bytes;
  }
  void grow() {
    constexpr std::size_t at_once = 64;
    slabs_.push_back(std::make_unique<slab>());
    std::byte* at = slabs_.back()->bytes;
    for (std::size_t i = at_once; i-- > 0;) unused_ = new (at + i * slot_bytes) header{unused_, 0, false};
  }
  struct slab {
    alignas(64) std::byte bytes[64 * slot_bytes];
  };
  std::vector<std::unique_ptr<slab>> slabs_;
  header* unused_ = nullptr;
};

/// A reference to a node that may be complete and destroyed.
struct node_ref {
  node* which = nullptr;
  std::uint32_t generation = 0;

  node_ref() noexcept = default;
  explicit node_ref(node* n) noexcept : which(n), generation(node_store::generation(n)) {}
  /// Null if the node is complete.
  node* get() const noexcept {
    return which != nullptr && node_store::generation(which) == generation ? which : nullptr;
  }
};

}  // namespace tutti::tasks
