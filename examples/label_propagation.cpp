// SPDX-License-Identifier: Apache-2.0
//
// Communities of a graph by label propagation: in each round every vertex takes the label that most
// of its neighbors have. A rank sends the labels of its border vertices to the ranks that have
// their neighbors, along a graph of ranks.
//
// Source: Raghavan, Albert, Kumara 2007. Unlike there, all vertices of a round change at once, and
// the least of equally frequent labels wins. So the result does not depend on the number of ranks.
#include <map>
#include <unordered_map>

#include "graph/distributed_graph.hpp"
#include "graph/random.hpp"
#include "support/checked.hpp"

namespace {

using namespace tutti;
using graph::vertex;
using labels = std::unordered_map<vertex, vertex>;

/// Returns the label that most of these vertices have, or `own` if there are no vertices.
template <class Vertices>
vertex most_frequent(const Vertices& vertices, const labels& label, vertex own) {
  std::map<vertex, std::size_t> votes;
  for (vertex w : vertices) ++votes[label.at(w)];
  std::size_t most = 0;
  for (const auto& [candidate, count] : votes)
    if (count > most) most = count, own = candidate;
  return own;
}

// count: label propagation
/// Returns the labels of the local vertices after `rounds` rounds. The first label of vertex v is
/// v.
std::vector<vertex> communities(communicator& world, const graph::distributed_graph& graph, int rounds) {
  struct shown {
    vertex v, label;
  };
  std::map<int, std::vector<vertex>> border;  // local vertices with a neighbor on the rank
  labels label;                               // of local vertices and of received ones
  for (vertex v = graph.first(); v < graph.first() + graph.size(); ++v) {
    label[v] = v;
    for (vertex w : graph.neighbors(v))
      if (auto& to = border[graph.owner(w)]; to.empty() || to.back() != v) to.push_back(v);
  }
  std::vector<int> ranks, counts;
  for (const auto& [rank, vertices] : border) ranks.push_back(rank), counts.push_back(vertices.size());
  graph_communicator along = world.graph(ranks, ranks);
  std::vector<vertex> mine(graph.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<shown> out;
    for (const auto& [rank, vertices] : border)
      for (vertex v : vertices) out.push_back({v, label[v]});
    for (const auto& [v, news] : along.neighbor_alltoallv(send_buf(out), send_counts(counts)))
      label[v] = news;
    for (vertex i = 0; i < graph.size(); ++i) {
      const vertex v = graph.first() + i;
      mine[i] = most_frequent(graph.neighbors(v), label, label[v]);
    }
    for (vertex i = 0; i < graph.size(); ++i) label[graph.first() + i] = mine[i];
  }
  return mine;
}
// end

std::vector<vertex> oracle(const graph::edge_list& global, int rounds) {
  const auto n = static_cast<vertex>(global.names.size());
  std::vector<std::vector<vertex>> neighbors(n);
  for (const graph::edge& e : global.edges)
    neighbors[e.from].push_back(e.to), neighbors[e.to].push_back(e.from);
  labels label, next;
  for (vertex v = 0; v < n; ++v) label[v] = v;
  for (int round = 0; round < rounds; ++round, label = next)
    for (vertex v = 0; v < n; ++v) next[v] = most_frequent(neighbors[v], label, label[v]);
  std::vector<vertex> all(n);
  for (vertex v = 0; v < n; ++v) all[v] = label[v];
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "label_propagation", [](communicator& world) {
    const graph::edge_list global = graph::random_graph(500, 900, 11);
    const graph::distributed_graph mine(world, world.is_root() ? &global : nullptr);
    const std::vector<vertex> found = communities(world, mine, 6), right = oracle(global, 6);
    return std::equal(found.begin(), found.end(), right.begin() + mine.first());
  });
}
