// SPDX-License-Identifier: Apache-2.0
//
// The LogP tree reaches all ranks in the fewest steps. The oracle inserts ranks greedily, each at
// the earliest time at which any rank can deliver a message.
#include "schedule/patterns/logp_tree.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include <gtest/gtest.h>

namespace {

using tutti::patterns::logp_tree;

int fewest_steps(int p, int latency) {
  std::priority_queue<int, std::vector<int>, std::greater<>> arrivals;  // the next one of each rank
  arrivals.push(latency);
  int last = 0;
  for (int reached = 1; reached < p; ++reached) {
    last = arrivals.top();
    arrivals.pop();
    arrivals.push(last + 1);
    arrivals.push(last + latency);
  }
  return last;
}

// The time at which the tree has reached all positions; -1 if it reaches one twice or not at all.
int steps_of_tree(int p, int latency) {
  std::vector<int> time(static_cast<std::size_t>(p), -1);
  time[0] = 0;
  for (int v = 0; v < p; ++v) {  // parents precede their children
    const logp_tree tree(v, p, latency);
    if (time[static_cast<std::size_t>(v)] < 0) return -1;
    int begun = time[static_cast<std::size_t>(v)];
    for (const int child : tree.children) {
      if (child <= v || child >= p || time[static_cast<std::size_t>(child)] >= 0) return -1;
      if (logp_tree(child, p, latency).parent != v) return -1;
      time[static_cast<std::size_t>(child)] = begun++ + latency;
    }
  }
  return *std::max_element(time.begin(), time.end());
}

TEST(logp_tree, reaches_every_rank_once_and_as_early_as_possible) {
  for (const int latency : {1, 2, 3, 5, 8, 64})
    for (int p = 1; p <= 150; ++p)
      EXPECT_EQ(steps_of_tree(p, latency), fewest_steps(p, latency)) << p << " ranks, latency " << latency;
}

TEST(logp_tree, is_the_binomial_tree_if_a_message_takes_one_step) {
  EXPECT_EQ(logp_tree(0, 16, 1).children, (std::vector<int>{8, 4, 2, 1}));
  EXPECT_EQ(logp_tree(8, 16, 1).children, (std::vector<int>{12, 10, 9}));
  EXPECT_EQ(logp_tree(13, 16, 1).parent, 12);
}

}  // namespace
