// SPDX-License-Identifier: Apache-2.0
//
// Scatter and gather of short data. With four ranks or more, short data travel together along a
// binomial tree: each rank except the root gets (scatter) or sends (gather) one pack, which has the
// data of this rank and of the ranks below it. All other data travel as single transfers.
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

/// The binomial tree over `size` ranks as one rank sees it. Let r be a rank relative to the root,
/// and b the lowest bit of r. The ranks below are r + 1 to r + b - 1.
class binomial {
 public:
  binomial(int rank, int size, int root) noexcept;
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
  scatter_gather_node(pack_table& of, const transfer_services& with, std::uint32_t id, int root,
                      bool gathers);
  /// One datum of this rank that is in a pack. `index` is its position in the call.
  void add(std::uint32_t index, int owner, std::size_t bytes, contents& at);
  /// How many packs this rank receives.
  int awaits() const {
    if (!gathers_) return tree_.at_root() ? 0 : 1;
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
  void go(ready_queue& by) override;
  void let_go() noexcept override;
  std::string what() const override { return gathers_ ? "a gather" : "a scatter"; }

 private:
  struct piece {
    std::uint32_t index;
    int owner;
    std::size_t bytes;
    contents* at;
  };
  void write_pieces();
  void read_pieces(const arrival& a);

  pack_table& of_;
  const transfer_services& with_;
  binomial tree_;
  std::uint32_t id_;
  bool gathers_;
  std::vector<piece> pieces_;
  std::vector<std::unique_ptr<arrival>> arrivals_;
  std::vector<std::byte> pack_;
};

/// The scatters and gathers that wait for packs, and packs that arrived before their call. All
/// ranks count their calls, so the count identifies a call.
class pack_table {
 public:
  explicit pack_table(const transfer_services& with) noexcept : with_(with) {}
  pack_table(const pack_table&) = delete;
  pack_table& operator=(const pack_table&) = delete;

  /// Whether data of so many bytes travel in packs.
  bool packs(std::size_t bytes) const noexcept;
  /// The node of a call, not yet released. Null if nothing travels in packs.
  scatter_gather_node* make(int root, bool gathers);
  /// The node has all of its data: delivers early packs, and releases it. Does nothing for null.
  void begin(scatter_gather_node* node);
  /// Forwards a pack of a scatter to the ranks below, and gives it to its call or keeps it.
  void handle(std::unique_ptr<arrival> a);
  /// Whether a call waits for packs.
  bool busy() const noexcept { return !waiting_.empty(); }

  // --- for the nodes
  void send(int to, std::uint32_t id, int root, const std::vector<std::byte>& pack);
  /// Splits a pack for the children in the tree.
  void send_down(const binomial& tree, std::uint32_t id, const std::byte* at, std::size_t bytes);

 private:
  void deliver(scatter_gather_node& node, std::unique_ptr<arrival> a);

  const transfer_services& with_;
  std::uint32_t calls_ = 0;
  std::vector<scatter_gather_node*> waiting_;
  std::vector<std::unique_ptr<arrival>> early_;
};

}  // namespace tutti::tasks
