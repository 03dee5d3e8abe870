// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search over a graph. Each rank holds a block of the vertices. In each level every
// rank sends the neighbors of its part of the frontier to their owners. An owner knows whether a
// vertex is new.
#include <map>

#include <tutti/flatten.hpp>

#include "graph/distributed_graph.hpp"
#include "graph/random.hpp"
#include "graph/serial_graph.hpp"
#include "support/checked.hpp"

namespace {

using namespace tutti;
using graph::unreached, graph::vertex;

// count: BFS
std::vector<std::uint32_t> bfs(communicator& world, const graph::distributed_graph& graph, vertex source) {
  std::vector<std::uint32_t> distance(graph.size(), unreached);
  std::vector<vertex> frontier;
  if (graph.owns(source)) frontier.push_back(source);
  const auto done = [&] {
    return world.allreduce_single(send_buf(frontier.empty()), op(std::logical_and<>{}));
  };
  for (std::uint32_t level = 0; !done(); ++level) {
    std::map<int, std::vector<vertex>> next;
    for (vertex v : frontier) {
      if (distance[graph.local(v)] != unreached) continue;
      distance[graph.local(v)] = level;
      for (vertex w : graph.neighbors(v)) next[graph.owner(w)].push_back(w);
    }
    frontier =
        flatten(next, world.size()).call([&](auto... flat) { return world.alltoallv(std::move(flat)...); });
  }
  return distance;
}
// end

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "bfs", [](communicator& world) {
    const graph::edge_list global = graph::random_graph(1000, 1500, 5);  // not connected
    const graph::distributed_graph mine(world, world.is_root() ? &global : nullptr);
    bool right = true;
    for (vertex source : {0u, 999u}) {
      const std::vector<std::uint32_t> found = bfs(world, mine, source),
                                       all = graph::oracle_distances(global, source);
      right = right && std::equal(found.begin(), found.end(), all.begin() + mine.first());
    }
    return right;
  });
}
