// SPDX-License-Identifier: Apache-2.0
//
// neighbor_alltoallv/scattered, neighbor_allgatherv/scattered
//
// Every rank sends to its destinations and receives from its sources, a window of messages at a
// time. They are ordered by their distance upwards, modulo p.
//
// Source:       folklore
// Parameters:   window = 32 in 1..1024: messages in progress at the same time
// Rounds:       <= (p - 1) * min(sources, destinations)
// Bytes:        <= b * max(sources, destinations)
// Scratch:      0
// Good for:     graphs of any kind
#include <algorithm>
#include <tuple>
#include <vector>

#include "schedule/algorithm.hpp"

namespace tutti::algorithms::neighbor_alltoallv_scattered {
namespace {

// Edges are sorted by their distance upwards; parallel edges are numbered by `number`. So both ends
// assign the same key to an edge, and no rank has two edges of the same key and direction. Each
// rank processes its edges in the order of keys. Of all remaining edges, the one with the smallest
// key is the next at both its ends, wherever these end their rounds. This requires that no round
// ends within a key. So there is no cycle of ranks that wait for one another.
struct edge {
  int distance, number, block;
  bool operator<(const edge& e) const { return std::tie(distance, number) < std::tie(e.distance, e.number); }
};

std::vector<edge> sorted(std::span<const int> neighbors, const shape& s, bool outgoing) {
  std::vector<edge> edges;
  for (std::size_t i = 0; i < neighbors.size(); ++i) {
    const int up = outgoing ? neighbors[i] - s.rank : s.rank - neighbors[i];
    edges.push_back({up < 0 ? up + s.size : up, 0, static_cast<int>(i)});
  }
  std::stable_sort(edges.begin(), edges.end());
  for (std::size_t i = 1; i < edges.size(); ++i)
    if (edges[i].distance == edges[i - 1].distance) edges[i].number = edges[i - 1].number + 1;
  return edges;
}

}  // namespace

void write(const shape& s, builder& b) {
  const auto operand = [&](const edge& e) {
    return s.what == collective::neighbor_allgatherv ? whole(buffer::input)
                                                     : block(buffer::input, e.block, partition::input_counts);
  };
  const std::vector<edge> out = sorted(s.destinations, s, true), in = sorted(s.sources, s, false);
  auto o = out.begin(), i = in.begin();
  for (; o != out.end() && o->distance == 0 && i != in.end() && i->distance == 0; ++o, ++i)
    b.copy(operand(*o), block(buffer::output, i->block, partition::output_counts));
  b.round();
  for (int in_progress = 0; o != out.end() || i != in.end();) {
    const bool sends = i == in.end() || (o != out.end() && !(*i < *o));
    const bool receives = o == out.end() || (i != in.end() && !(*o < *i));
    if (sends) b.send(s.destinations[static_cast<std::size_t>(o->block)], operand(*o));
    if (receives)
      b.recv(s.sources[static_cast<std::size_t>(i->block)],
             block(buffer::output, i->block, partition::output_counts));
    o += sends;
    i += receives;
    if (++in_progress == s.of(algorithm_parameter::window)) {
      b.round();
      in_progress = 0;
    }
  }
}

}  // namespace tutti::algorithms::neighbor_alltoallv_scattered
