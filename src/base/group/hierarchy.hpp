// SPDX-License-Identifier: Apache-2.0
//
// The topology: ranks on nodes, and nodes on coarser nodes. Hierarchical compositions divide a
// group by it. Level 0 is the finest; a node of a level is a union of nodes of the level below. The
// engine determines it (MPI: ranks that share memory), unless TUTTI_NODES overrides it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tutti::detail {

class hierarchy {
 public:
  /// `ranks` ranks on one node.
  explicit hierarchy(int ranks = 1);

  /// node_of[level][rank] holds arbitrary numbers; equal numbers are one node. The constructor
  /// renumbers the nodes in the order of their first ranks. Throws std::invalid_argument if lengths
  /// differ, or if a node lies on two nodes of the level above.
  explicit hierarchy(const std::vector<std::vector<int>>& node_of);

  int ranks() const noexcept { return ranks_; }
  /// At least 1.
  int levels() const noexcept { return static_cast<int>(levels_.size()); }
  int nodes(int level = 0) const noexcept { return static_cast<int>(of(level).members.size()); }
  int node_of(int rank, int level = 0) const noexcept {
    return of(level).node_of[static_cast<std::size_t>(rank)];
  }
  /// The ranks of a node, ascending. The first one is the node's leader.
  std::span<const int> members(int node, int level = 0) const noexcept {
    return of(level).members[static_cast<std::size_t>(node)];
  }
  int leader_of(int rank, int level = 0) const noexcept { return members(node_of(rank, level), level)[0]; }
  /// The index of a rank among the members of its node.
  int position_in_node(int rank, int level = 0) const noexcept {
    return of(level).position_in_node[static_cast<std::size_t>(rank)];
  }
  /// The number of ranks of every node; 0 if nodes differ.
  int ranks_per_node(int level = 0) const noexcept { return of(level).ranks_per_node; }
  /// True if the ranks of every node are consecutive, at every level.
  bool consecutive() const noexcept { return consecutive_; }
  /// True if there are several nodes, and one of them has several ranks.
  bool hierarchical() const noexcept { return nodes() > 1 && nodes() < ranks_; }

  /// The topology of a group whose member i is rank members[i].
  hierarchy restricted_to(std::span<const int> members) const;
  friend bool operator==(const hierarchy&, const hierarchy&) = default;

 private:
  struct level {
    std::vector<int> node_of, position_in_node;
    std::vector<std::vector<int>> members;
    int ranks_per_node = 0;
    friend bool operator==(const level&, const level&) = default;
  };
  int node_of_first(std::size_t l, int r, const std::vector<std::vector<int>>& node_of) const;
  const level& of(int l) const noexcept { return levels_[static_cast<std::size_t>(l)]; }

  std::vector<level> levels_;
  int ranks_ = 1;
  bool consecutive_ = true;
};

/// Parses TUTTI_NODES: "4x2" (4 nodes of 2 ranks), "2x3x4" (2 nodes of 3 nodes of 4), "3,1,4" (the
/// sizes of the nodes, in rank order), "0:1:0:1" (the node of each rank). Throws
/// std::invalid_argument with the reason if the text has another form or does not describe `ranks`
/// ranks.
hierarchy read_nodes(std::string_view text, int ranks);

}  // namespace tutti::detail
