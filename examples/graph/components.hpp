// SPDX-License-Identifier: Apache-2.0
//
// Connected components by propagating the least label. Each rank first finds the components within
// its block; each gets one label, at first its least vertex. In each round, ranks send the labels
// that decreased along the edges to other ranks. The algorithm ends with the first round in which
// no label decreases.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "distributed_graph.hpp"

namespace graph {

/// Returns, for each local vertex, the least vertex that it is connected with.
inline std::vector<vertex> components(tutti::communicator& world, const distributed_graph& graph,
                                      meter& meter) {
  struct crossing {
    vertex home, neighbor;
  };
  struct news {
    vertex target, label;
  };
  // home[v] is the least vertex that v reaches without leaving the block of this rank. Both are
  // local indices.
  constexpr vertex none = ~vertex{0};
  std::vector<vertex> home(graph.size(), none), stack;
  std::vector<crossing> crossings;
  for (vertex least = 0; least < graph.size(); ++least) {
    if (home[least] != none) continue;
    home[least] = least;
    for (stack.push_back(graph.first() + least); !stack.empty();) {
      const vertex v = stack.back();
      stack.pop_back();
      for (vertex w : graph.neighbors(v)) {
        if (!graph.owns(w)) {
          crossings.push_back({least, w});
        } else if (home[graph.local(w)] == none) {
          home[graph.local(w)] = least;
          stack.push_back(w);
        }
      }
    }
  }

  std::vector<vertex> label(graph.size());  // valid for homes only
  std::iota(label.begin(), label.end(), graph.first());
  std::vector<char> fell(graph.size(), true);
  for (std::uint64_t falls = 1; total(world, falls, meter) > 0;) {
    outbox<news> out;
    for (const auto [mine, neighbor] : crossings)
      if (fell[mine] && label[mine] < neighbor) out.post(graph.owner(neighbor), {neighbor, label[mine]});
    falls = 0;
    std::fill(fell.begin(), fell.end(), false);
    for (const auto [target, heard] : exchange(world, out, meter)) {
      const vertex mine = home[graph.local(target)];
      if (heard >= label[mine]) continue;
      label[mine] = heard;
      fell[mine] = true;
      ++falls;
    }
  }
  for (vertex v = 0; v < graph.size(); ++v) label[v] = label[home[v]];
  return label;
}

}  // namespace graph
