// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search, level by level. Each rank sends the neighbors of its part of the frontier
// to their owners, who know which are new. The search ends when no rank finds a new vertex.
#pragma once

#include <vector>

#include "distributed_graph.hpp"
#include "serial_graph.hpp"

namespace graph {

/// Returns the distance from `source` to each local vertex, or `unreached`.
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
      for (vertex w : graph.neighbors(v)) out.post(graph.owner(w), w);
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
