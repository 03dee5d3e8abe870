// SPDX-License-Identifier: Apache-2.0
//
// neighbor_alltoallv/scattered, neighbor_allgatherv/scattered
//
// Every rank sends to its destinations and receives from its sources, the nearest above first, a window of
// messages at a time.
//
// Source:       folklore
// Parameters:   window = 32 in 1..1024: messages under way together
// Rounds:       <= (p - 1) * min(sources, destinations)
// Bytes:        <= b * destinations
// Scratch:      0
// Good for:     graphs of any kind
#include <algorithm>
#include <tuple>
#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::neighbor_alltoallv_scattered {
namespace {

// Edges are ordered by how far they go up, those between the same two ranks by their turn. So both ends know
// an edge by the same key, and no rank has more than one of a key each way. Each goes through its edges by
// key: of all edges that are left the one with the least key is next at both its ends, wherever these end
// their rounds, as long as no round ends within a key. So no cycle of ranks can wait for one another.
struct edge {
  int distance, turn, block;
  bool operator<(const edge& e) const { return std::tie(distance, turn) < std::tie(e.distance, e.turn); }
};

std::vector<edge> sorted(std::span<const int> neighbours, const shape& s, bool outgoing) {
  std::vector<edge> edges;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const int up = outgoing ? neighbours[i] - s.rank : s.rank - neighbours[i];
    edges.push_back({up < 0 ? up + s.size : up, 0, static_cast<int>(i)});
  }
  std::stable_sort(edges.begin(), edges.end());
  for (std::size_t i = 1; i < edges.size(); ++i)
    if (edges[i].distance == edges[i - 1].distance) edges[i].turn = edges[i - 1].turn + 1;
  return edges;
}

}  // namespace

void write(const shape& s, builder& b) {
  const auto given = [&](const edge& e) {
    return s.what == collective::neighbor_allgatherv ? whole(buffer::input)
                                                     : block(buffer::input, e.block, table::in);
  };
  const std::vector<edge> out = sorted(s.destinations, s, true), in = sorted(s.sources, s, false);
  auto o = out.begin(), i = in.begin();
  for (; o != out.end() && o->distance == 0 && i != in.end() && i->distance == 0; ++o, ++i)
    b.copy(given(*o), block(buffer::output, i->block, table::out));
  b.round();
  for (int under_way = 0; o != out.end() || i != in.end();) {
    const bool sends = i == in.end() || (o != out.end() && !(*i < *o));
    const bool receives = o == out.end() || (i != in.end() && !(*o < *i));
    if (sends) b.send(s.destinations[static_cast<std::size_t>(o->block)], given(*o));
    if (receives)
      b.recv(s.sources[static_cast<std::size_t>(i->block)], block(buffer::output, i->block, table::out));
    o += sends;
    i += receives;
    if (++under_way == s.of(algorithm_parameter::window)) {
      b.round();
      under_way = 0;
    }
  }
}

}  // namespace tutti::algorithms::neighbor_alltoallv_scattered
