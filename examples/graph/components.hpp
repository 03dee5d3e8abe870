// SPDX-License-Identifier: Apache-2.0
//
// Connected components by spreading the least label: every vertex begins with its own number, and takes any smaller one
// that reaches it. Within a rank labels spread at once; what must cross to another rank goes once a round. It
// ends with the round in which no label fell.
#pragma once

#include <numeric>
#include <vector>

#include "distributed_graph.hpp"

namespace graph {

/// For each of my vertices the least vertex that it is connected with.
inline std::vector<vertex> components(tutti::communicator& world, const distributed_graph& graph, meter& meter) {
  struct news {
    vertex target, label;
  };
  std::vector<vertex> label(graph.size());
  std::iota(label.begin(), label.end(), graph.first());
  std::vector<vertex> fallen(label.rbegin(), label.rend());  // a stack: the smallest label spreads first
  std::vector<char> changed(graph.size(), true);
  do {
    while (!fallen.empty()) {
      const vertex v = fallen.back(), mine = label[graph.local(v)];
      fallen.pop_back();
      for (vertex w : graph.neighbours(v)) {
        if (!graph.owns(w) || label[graph.local(w)] <= mine) continue;
        label[graph.local(w)] = mine;
        changed[graph.local(w)] = true;
        fallen.push_back(w);
      }
    }
    letters<news> outbox(world.size());
    for (std::size_t i = 0; i < changed.size(); ++i) {
      if (!changed[i]) continue;
      changed[i] = false;
      for (vertex w : graph.neighbours(static_cast<vertex>(graph.first() + i)))
        if (!graph.owns(w) && label[i] < w) outbox[graph.owner(w)].push_back({w, label[i]});
    }
    for (const news& heard : exchange(world, outbox, meter)) {
      vertex& mine = label[graph.local(heard.target)];
      if (mine <= heard.label) continue;
      mine = heard.label;
      changed[graph.local(heard.target)] = true;
      fallen.push_back(heard.target);
    }
  } while (total(world, fallen.size(), meter) > 0);
  return label;
}

}  // namespace graph
