// SPDX-License-Identifier: Apache-2.0
//
// Serial reference solutions on graphs; the examples compare their results with them.
#pragma once

#include <numeric>
#include <vector>

#include "edge_list.hpp"

namespace graph {

inline constexpr std::uint32_t unreached = ~std::uint32_t{0};

/// Returns the vertex with the most edges, in both directions; the first of them if there are
/// several.
inline vertex busiest(const edge_list& graph) {
  std::vector<std::uint32_t> degree(graph.names.size());
  for (const edge& e : graph.edges) ++degree[e.from], ++degree[e.to];
  return static_cast<vertex>(std::max_element(degree.begin(), degree.end()) - degree.begin());
}

/// Returns the distance from `source` to each vertex along edges in either direction, or
/// `unreached`.
inline std::vector<std::uint32_t> oracle_distances(const edge_list& graph, vertex source) {
  std::vector<std::size_t> begin(graph.names.size() + 1);
  for (const edge& e : graph.edges) ++begin[e.from], ++begin[e.to];
  std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), std::size_t{0});
  std::vector<vertex> neighbors(begin.back());
  auto place = begin;
  for (const edge& e : graph.edges) neighbors[place[e.from]++] = e.to, neighbors[place[e.to]++] = e.from;

  std::vector<std::uint32_t> distance(graph.names.size(), unreached);
  std::vector<vertex> queue{source};
  distance[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::size_t j = begin[queue[i]]; j < begin[queue[i] + 1]; ++j) {
      if (distance[neighbors[j]] != unreached) continue;
      distance[neighbors[j]] = distance[queue[i]] + 1;
      queue.push_back(neighbors[j]);
    }
  }
  return distance;
}

/// Returns for each vertex the least vertex that it is connected with, by union-find.
inline std::vector<vertex> oracle_components(const edge_list& graph) {
  std::vector<vertex> parent(graph.names.size());
  std::iota(parent.begin(), parent.end(), vertex{0});
  const auto find = [&](vertex v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const edge& e : graph.edges) {
    const vertex a = find(e.from), b = find(e.to);
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (vertex v = 0; v < parent.size(); ++v) parent[v] = find(v);
  return parent;
}

}  // namespace graph
