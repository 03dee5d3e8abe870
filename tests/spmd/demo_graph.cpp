// SPDX-License-Identifier: Apache-2.0
//
// Tests the demo's graph programs against their references on small special graphs: no edge, one
// vertex, a path across all ranks, a star, more ranks than vertices, random ones.
#include <random>

#include "../../examples/graph/components.hpp"
#include "../../examples/graph/search.hpp"
#include "support/check.hpp"
#include "support/program.hpp"

using tests::check;

namespace {

graph::edge_list make(std::size_t vertices, std::vector<graph::edge> edges) {
  graph::edge_list graph{"", std::vector<std::string>(vertices), std::move(edges)};
  graph.remove_duplicates();
  return graph;
}

std::vector<graph::edge_list> graphs(std::uint64_t seed) {
  std::vector<graph::edge_list> all{make(1, {}), make(5, {}), make(2, {{1, 0}})};
  std::vector<graph::edge> path, star;
  for (graph::vertex v = 1; v < 97; ++v) path.push_back({v - 1, v}), star.push_back({v, 50});
  all.push_back(make(97, path));
  all.push_back(make(120, star));
  std::mt19937 random(static_cast<unsigned>(seed));
  for (std::size_t edges : {30, 100, 400, 3000}) {
    std::vector<graph::edge> some;
    for (std::size_t i = 0; i < edges; ++i)
      some.push_back(
          {static_cast<graph::vertex>(random() % 211), static_cast<graph::vertex>(random() % 211)});
    all.push_back(make(211, some));
  }
  return all;
}

void try_graph(tutti::communicator& world, const graph::edge_list& input) {
  const bool reader = world.rank() == 0;
  meter meter(world);
  const graph::distributed_graph mine(world, reader ? &input : nullptr, meter);
  for (graph::vertex source : {std::size_t{0}, input.names.size() / 2, input.names.size() - 1}) {
    const auto right = graph::oracle_distances(input, source);
    const auto found = graph::search(world, mine, source, meter);
    check.that(graph::differences(world, mine, found, reader ? &right : nullptr) == 0, "distances differ");
  }
  const auto right = graph::oracle_components(input);
  auto found = graph::components(world, mine, meter);
  check.that(graph::differences(world, mine, found, reader ? &right : nullptr) == 0, "components differ");
  if (!found.empty()) found.back() ^= 1;
  check.that(graph::differences(world, mine, found, reader ? &right : nullptr) > 0,
             "wrong components do not differ");
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& cases) {
    const std::uint64_t seed = tests::selected_seed().value_or(7);
    std::size_t number = 0;
    for (const graph::edge_list& input : graphs(seed))
      cases("seed_" + std::to_string(seed) + "/number_" + std::to_string(number++),
            [&] { try_graph(world, input); });
  });
}
