// SPDX-License-Identifier: Apache-2.0
//
// A node of the graph of one rank: a task, a transfer, or the program's own use of a datum. It runs when all
// before it are over. Nodes are inserted and taken away by the rank's own thread; any worker may complete
// one, and makes those ready that waited for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace tutti::tasks {

class task_graph;
struct node;

/// Why data could not be made. Kept until the flow ends.
struct failure {
  std::string task;                   // as reports call it
  int rank = 0;                       // that ran it
  std::string text;                   // of what it threw
  std::exception_ptr what = nullptr;  // on that rank
};

/// `to` waits for the node that has this in its list.
struct edge {
  node* to = nullptr;
  edge* next = nullptr;
};

struct node {
  /// Of those that wait for it; closed() once it is over.
  std::atomic<edge*> behind{nullptr};
  /// How many it waits for, and one more while it is inserted.
  std::atomic<std::int32_t> waits{1};
  node* next = nullptr;  // in the list of those that are ready, or over
  const bool anywhere;   // a kernel; the others are of the rank's own thread

  explicit node(bool any) noexcept : anywhere(any) {}
  virtual ~node() = default;
  node(const node&) = delete;

  /// Of kernels: runs, on any thread; it is over then. Of the others: begins, on the rank's thread, and is
  /// over when it says so.
  virtual void go(task_graph& in) = 0;
  /// What follows, on the rank's thread, when it is over.
  virtual void end(task_graph&) noexcept {}
  /// Lets go of what it uses; then, or when the flow ends without it.
  virtual void let_go() noexcept {}
  /// What a report says that it waits for.
  virtual std::string what() const { return "a task"; }

  static edge* closed() noexcept { return reinterpret_cast<edge*>(std::uintptr_t{1}); }

  /// Not before `other` is over. Of the rank's thread, while this one is inserted.
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
    // Edges are linked into lists of others: they may not move.
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

/// A list whose newest stands first, in the order in which it was made.
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

/// Many put nodes on, one takes them all. As strong as can be: whoever is about to rest looks once more.
inline void put_on(std::atomic<node*>& pile, node& n) noexcept {
  node* newest = pile.load(std::memory_order_relaxed);
  do {
    n.next = newest;
  } while (!pile.compare_exchange_weak(newest, &n, std::memory_order_seq_cst, std::memory_order_relaxed));
}

/// Memory for nodes, of one size, so that it is used again and never given back while the flow lives; each
/// place counts how many have been there.
class node_store {
 public:
  static constexpr std::size_t place_bytes = 512;
  static constexpr std::size_t header_bytes = 16;
  static constexpr std::size_t most = place_bytes - header_bytes;

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
  /// Ends what is still there.
  ~node_store() {
    for (const auto& s : slabs_)
      for (std::size_t at = 0; at < sizeof s->bytes; at += place_bytes)
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
    for (std::size_t i = at_once; i-- > 0;) unused_ = new (at + i * place_bytes) header{unused_, 0, false};
  }
  struct slab {
    alignas(64) std::byte bytes[64 * place_bytes];
  };
  std::vector<std::unique_ptr<slab>> slabs_;
  header* unused_ = nullptr;
};

/// A node that may be over and gone.
struct node_ref {
  node* which = nullptr;
  std::uint32_t generation = 0;

  node_ref() noexcept = default;
  explicit node_ref(node* n) noexcept : which(n), generation(node_store::generation(n)) {}
  /// Null: it is over.
  node* get() const noexcept {
    return which != nullptr && node_store::generation(which) == generation ? which : nullptr;
  }
};

}  // namespace tutti::tasks
