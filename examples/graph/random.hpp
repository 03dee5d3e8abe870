// SPDX-License-Identifier: Apache-2.0
//
// Random graphs from a seed, identical on every rank and machine.
#pragma once

#include <random>

#include "edge_list.hpp"

namespace graph {

/// Returns edges between uniformly drawn vertices, except that one edge in eight leads to one of
/// eight hubs.
inline edge_list random_graph(vertex vertices, std::size_t edges, unsigned seed) {
  std::mt19937 random(seed);
  edge_list graph{"random", std::vector<std::string>(vertices), {}};
  for (std::size_t i = 0; i < edges; ++i) {
    const auto from = static_cast<vertex>(random() % vertices);
    const bool to_hub = random() % 8 == 0;
    const auto to = static_cast<vertex>(random() % (to_hub ? std::min<vertex>(8, vertices) : vertices));
    graph.edges.push_back({from, to});
  }
  graph.remove_duplicates();
  return graph;
}

}  // namespace graph
