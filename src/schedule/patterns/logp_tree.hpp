// SPDX-License-Identifier: Apache-2.0
//
// The tree that reaches p positions in the fewest steps if a position can begin one message in each
// step, and a message arrives `latency` steps after it began. A position does not wait for its
// messages, so it serves the more children the longer a message takes. With a latency of 1 it is
// the binomial tree.
//
// The subtree of v is an interval that begins with v. Children have descending positions: the first
// one has the largest subtree, which is the farthest from v.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti::patterns {

class logp_tree {
 public:
  int parent = -1;
  std::vector<int> children;  // in the order in which they are served

  logp_tree(int v, int p, int latency) : latency_(latency) {
    // reached_[t]: the positions that a subtree reaches in t steps, at most p.
    for (int t = 0; reached_.empty() || reached_.back() < p; ++t)
      reached_.push_back(t < latency ? 1
                                     : std::min(p, reached_[index(t - 1)] + reached_[index(t - latency)]));
    for (int root = 0, size = p;;) {
      if (root == v) {
        for_each_subtree(root, size, [&](int child, int) { children.push_back(child); });
        return;
      }
      parent = root;
      int next = root, next_size = 0;
      for_each_subtree(root, size, [&](int child, int n) {
        if (child > v || next > root) return;
        next = child;
        next_size = n;
      });
      root = next;
      size = next_size;
    }
  }

 private:
  static std::size_t index(int t) { return static_cast<std::size_t>(t); }

  // The child that is served in step i has `steps - latency - i` steps left.
  template <class Body>
  void for_each_subtree(int root, int size, Body&& body) const {
    const auto enough = std::lower_bound(reached_.begin(), reached_.end(), size);
    int left = static_cast<int>(enough - reached_.begin()) - latency_;
    for (int end = root + size; end > root + 1; --left) {
      const int n = std::min(end - root - 1, reached_[index(left)]);
      end -= n;
      body(end, n);
    }
  }

  int latency_;
  std::vector<int> reached_;
};

}  // namespace tutti::patterns
