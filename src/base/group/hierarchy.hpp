// SPDX-License-Identifier: Apache-2.0
//
// How the ranks of a group lie on nodes, and nodes on nodes of nodes: what hierarchical compositions divide
// a group by. Levels go from fine (0) to coarse; a node of a level is a union of nodes of the level below.
// The engine knows it (MPI: ranks that share memory), or TUTTI_NODES pretends it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tutti {

class hierarchy {
 public:
  /// `ranks` ranks on one node.
  explicit hierarchy(int ranks = 1);

  /// node_of[level][rank], any numbers: equal ones are one node. Nodes are numbered anew in the order of
  /// their first ranks. Throws std::invalid_argument where lengths differ or a node is on two nodes of the
  /// level above.
  explicit hierarchy(const std::vector<std::vector<int>>& node_of);

  int ranks() const noexcept { return ranks_; }
  /// 1 at least.
  int levels() const noexcept { return static_cast<int>(levels_.size()); }
  int nodes(int level = 0) const noexcept { return static_cast<int>(of(level).members.size()); }
  int node_of(int rank, int level = 0) const noexcept {
    return of(level).node_of[static_cast<std::size_t>(rank)];
  }
  /// Ascending; the first of them leads the node.
  std::span<const int> members(int node, int level = 0) const noexcept {
    return of(level).members[static_cast<std::size_t>(node)];
  }
  int leader_of(int rank, int level = 0) const noexcept { return members(node_of(rank, level), level)[0]; }
  /// The place of a rank among the members of its node.
  int place_of(int rank, int level = 0) const noexcept {
    return of(level).place_of[static_cast<std::size_t>(rank)];
  }
  /// How many ranks every node has; 0 where they differ.
  int ranks_per_node(int level = 0) const noexcept { return of(level).each; }
  /// The ranks of every node are consecutive, at every level.
  bool consecutive() const noexcept { return consecutive_; }
  /// Several nodes, one of them of several ranks.
  bool hierarchical() const noexcept { return nodes() > 1 && nodes() < ranks_; }

  /// The part of it that a group sees whose member i is rank members[i].
  hierarchy restricted_to(std::span<const int> members) const;

 private:
  struct level {
    std::vector<int> node_of, place_of;
    std::vector<std::vector<int>> members;
    int each = 0;
  };
  int node_of_first(std::size_t l, int r, const std::vector<std::vector<int>>& node_of) const;
  const level& of(int l) const noexcept { return levels_[static_cast<std::size_t>(l)]; }

  std::vector<level> levels_;
  int ranks_ = 1;
  bool consecutive_ = true;
};

/// TUTTI_NODES: "4x2" (4 nodes of 2 ranks), "2x3x4" (2 nodes of 3 nodes of 4), "3,1,4" (nodes of so many, in
/// rank order), "0:1:0:1" (the node of each rank). Throws std::invalid_argument, saying what is wrong, where
/// the text is none of these or does not make `ranks` ranks.
hierarchy read_nodes(std::string_view text, int ranks);

}  // namespace tutti
