// SPDX-License-Identifier: Apache-2.0
//
// A scatter or gather as a node of the graph, and the tree by which packs go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/tasks/graph_messages.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {

/// The binomial tree of `size` ranks as one of them sees it: below a rank whose number, counted from the
/// root, has the lowest bit b are those from its own number to b - 1 beyond.
class binomial {
 public:
  binomial(int rank, int size, int root) noexcept;
  bool at_root() const noexcept { return relative_ == 0; }
  int root() const noexcept { return root_; }
  int parent() const noexcept { return rank_of(relative_ & (relative_ - 1)); }
  int relative_of(int rank) const noexcept { return (rank - root_ + size_) % size_; }
  /// run(child, first, last): with the interval, counted from the root, of the child and those below it.
  template <class Do>
  void for_children(Do&& run) const {
    for (int m = step_ / 2; m > 0; m /= 2)
      if (relative_ + m < size_)
        run(rank_of(relative_ + m), relative_ + m, std::min(relative_ + 2 * m, size_));
  }

 private:
  int rank_of(int relative) const noexcept { return (relative + root_) % size_; }
  int size_, root_, relative_;
  int step_;  // the lowest bit; of the root the first power of two that is not below the size
};

class scatter_gather_node final : public node {
 public:
  scatter_gather_node(task_graph& in, std::uint32_t number, int root, bool gathers);
  /// One datum of this rank that goes with a pack, or comes with one.
  void add(std::uint32_t index, int owner, std::size_t bytes, contents& at);
  /// How many packs come to this rank.
  int awaits() const {
    if (!gathers_) return tree_.at_root() ? 0 : 1;
    int n = 0;
    tree_.for_children([&](int, int, int) { ++n; });
    return n;
  }
  std::uint32_t number() const noexcept { return number_; }
  /// How many have come.
  int came(std::unique_ptr<arrival> a) {
    came_.push_back(std::move(a));
    return static_cast<int>(came_.size());
  }
  void go(task_graph& in) override;
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
  void take_pieces(const arrival& a);

  task_graph& in_;
  binomial tree_;
  std::uint32_t number_;
  bool gathers_;
  std::vector<piece> pieces_;
  std::vector<std::unique_ptr<arrival>> came_;
  std::vector<std::byte> pack_;
};

}  // namespace tutti::tasks
