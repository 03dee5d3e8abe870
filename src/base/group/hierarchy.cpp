// SPDX-License-Identifier: Apache-2.0
#include "base/group/hierarchy.hpp"

#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tutti::detail {

hierarchy::hierarchy(int ranks) : ranks_(ranks) {
  level one;
  const auto p = static_cast<std::size_t>(ranks);
  one.node_of.assign(p, 0);
  one.position_in_node.resize(p);
  std::iota(one.position_in_node.begin(), one.position_in_node.end(), 0);
  one.members.push_back(one.position_in_node);
  one.ranks_per_node = ranks;
  levels_.push_back(std::move(one));
}

hierarchy::hierarchy(const std::vector<std::vector<int>>& node_of) : ranks_(0) {
  if (node_of.empty()) throw std::invalid_argument("a topology has at least one level");
  ranks_ = static_cast<int>(node_of.front().size());
  for (std::size_t l = 0; l < node_of.size(); ++l) {
    if (static_cast<int>(node_of[l].size()) != ranks_)
      throw std::invalid_argument("all levels of a topology must have the same number of ranks");
    level made;
    std::map<int, int> new_index;
    for (std::size_t r = 0; r < node_of[l].size(); ++r) {
      const int node = new_index.emplace(node_of[l][r], static_cast<int>(new_index.size())).first->second;
      if (node == static_cast<int>(made.members.size())) made.members.emplace_back();
      auto& members = made.members[static_cast<std::size_t>(node)];
      consecutive_ = consecutive_ && (members.empty() || members.back() == static_cast<int>(r) - 1);
      made.node_of.push_back(node);
      made.position_in_node.push_back(static_cast<int>(members.size()));
      members.push_back(static_cast<int>(r));
      if (l > 0 && node_of_first(l, static_cast<int>(r), node_of) != node_of[l][r])
        throw std::invalid_argument("a node belongs to two nodes of the level above it");
    }
    if (!made.members.empty()) {
      made.ranks_per_node = static_cast<int>(made.members.front().size());
      for (const auto& one : made.members)
        if (static_cast<int>(one.size()) != made.ranks_per_node) made.ranks_per_node = 0;
    }
    levels_.push_back(std::move(made));
  }
}

// The node, at level l, of the first rank that shares rank r's node at level l - 1.
int hierarchy::node_of_first(std::size_t l, int r, const std::vector<std::vector<int>>& node_of) const {
  return node_of[l][static_cast<std::size_t>(leader_of(r, static_cast<int>(l) - 1))];
}

hierarchy hierarchy::restricted_to(std::span<const int> members) const {
  std::vector<std::vector<int>> node_of(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l)
    for (const int r : members) node_of[l].push_back(levels_[l].node_of[static_cast<std::size_t>(r)]);
  return hierarchy(node_of);
}

}  // namespace tutti::detail
