// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search, level by level: each rank looks at the neighbours of its part of the frontier and
// sends each to its owner, who knows whether it is new. It ends when no rank has found anything new.
#pragma once

#include <vector>

#include "distributed_graph.hpp"
#include "oracle.hpp"

namespace graph {

/// The steps from `source` to each of my vertices; unreached where there is no way.
inline std::vector<std::uint32_t> search(tutti::communicator& world, const distributed_graph& graph,
                                         vertex source, meter& meter) {
  std::vector<std::uint32_t> distance(graph.size(), unreached);
  std::vector<vertex> frontier;
  if (graph.owns(source)) {
    distance[graph.local(source)] = 0;
    frontier.push_back(source);
  }
  for (std::uint32_t level = 1; total(world, frontier.size(), meter) > 0; ++level) {
    outbox<vertex> out;
    for (vertex v : frontier)
      for (vertex w : graph.neighbours(v)) out.post(graph.owner(w), w);
    frontier.clear();
    for (vertex w : exchange(world, out, meter)) {
      if (distance[graph.local(w)] != unreached) continue;
      distance[graph.local(w)] = level;
      frontier.push_back(w);
    }
  }
  return distance;
}

}  // namespace graph
