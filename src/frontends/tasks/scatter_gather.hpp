// SPDX-License-Identifier: Apache-2.0
//
// Scatter and gather of short data. With four ranks or more, short data are packed and sent along a
// binomial tree. Each rank except the root receives (scatter) or sends (gather) one pack. It has
// the data of this rank and of the ranks below it. All other data are single transfers.
//
// task_graph::scatter() and gather() fill the node of a call; task_graph hands over arrivals. Only
// the rank's own thread calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/replica_directory.hpp"
#include "frontends/tasks/transfer_services.hpp"

namespace tutti::tasks {

/// The binomial tree over `size` ranks, from the view of one rank. Let r be a rank relative to the
/// root, and b the lowest bit of r. The ranks below are r + 1 to r + b - 1.
class binomial_tree {
 public:
  binomial_tree(int rank, int size, int root) noexcept;
  bool at_root() const noexcept { return relative_ == 0; }
  int root() const noexcept { return root_; }
  int parent() const noexcept { return rank_of(relative_ & (relative_ - 1)); }
  int relative_of(int rank) const noexcept { return (rank - root_ + size_) % size_; }
  /// run(child, first, last): the child and the ranks below it, relative to the root.
  template <class Do>
  void for_children(Do&& run) const {
    for (int m = step_ / 2; m > 0; m /= 2)
      if (relative_ + m < size_)
        run(rank_of(relative_ + m), relative_ + m, std::min(relative_ + 2 * m, size_));
  }

 private:
  int rank_of(int relative) const noexcept { return (relative + root_) % size_; }
  int size_, root_, relative_;
  int step_;  // the lowest bit of relative_; at the root the first power of two from size_ on
};

class pack_table;

/// A scatter or gather on this rank.
class scatter_gather_node final : public node {
 public:
  scatter_gather_node(pack_table& table, const transfer_services& services, std::uint32_t id, int root,
                      bool is_gather);
  /// Adds one data handle of this rank whose contents are in a pack. `index` is its position in the
  /// call.
  void add(std::uint32_t index, int owner, std::size_t bytes, contents& at);
  /// The number of packs that this rank receives.
  int expected_packs() const {
    if (!is_gather_) return tree_.at_root() ? 0 : 1;
    int n = 0;
    tree_.for_children([&](int, int, int) { ++n; });
    return n;
  }
  std::uint32_t id() const noexcept { return id_; }
  /// Returns how many packs have arrived.
  int arrived(std::unique_ptr<arrival> a) {
    arrivals_.push_back(std::move(a));
    return static_cast<int>(arrivals_.size());
  }
  void start(ready_queue& queue) override;
  void release_resources() noexcept override;
  std::string description() const override { return is_gather_ ? "a gather" : "a scatter"; }

 private:
  struct item {
    std::uint32_t index;
    int owner;
    std::size_t bytes;
    contents* at;
  };
  void pack_items();
  void unpack_items(const arrival& a);

  pack_table& table_;
  const transfer_services& services_;
  binomial_tree tree_;
  std::uint32_t id_;
  bool is_gather_;
  std::vector<item> items_;
  std::vector<std::unique_ptr<arrival>> arrivals_;
  std::vector<std::byte> pack_;
};

/// The scatters and gathers that wait for packs, and packs that arrived before their call. All
/// ranks count their calls, so the count identifies a call.
class pack_table {
 public:
  explicit pack_table(const transfer_services& services) noexcept : services_(services) {}
  pack_table(const pack_table&) = delete;
  pack_table& operator=(const pack_table&) = delete;

  /// Whether data of this size are packed.
  bool is_packed(std::size_t bytes) const noexcept;
  /// The node of a call, not yet released. Null if nothing is packed.
  scatter_gather_node* make(int root, bool is_gather);
  /// Called when the node has all of its data. Delivers unexpected packs, and releases the node.
  /// Does nothing for null.
  void begin(scatter_gather_node* node);
  /// Forwards a pack of a scatter to the ranks below, and gives it to its call or stores it.
  void handle(std::unique_ptr<arrival> a);
  /// Whether a call waits for packs.
  bool busy() const noexcept { return !waiting_.empty(); }

  // --- for the nodes
  void send(int to, std::uint32_t id, int root, const std::vector<std::byte>& pack);
  /// Splits a pack for the children in the tree.
  void send_to_children(const binomial_tree& tree, std::uint32_t id, const std::byte* at, std::size_t bytes);

 private:
  void deliver(scatter_gather_node& node, std::unique_ptr<arrival> a);

  const transfer_services& services_;
  std::uint32_t calls_ = 0;
  std::vector<scatter_gather_node*> waiting_;
  std::vector<std::unique_ptr<arrival>> unexpected_;
};

}  // namespace tutti::tasks
