// SPDX-License-Identifier: Apache-2.0
//
// A distributed graph: each rank holds a block of the vertices, with all edges that touch them, in
// both directions.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include <tutti/tutti.hpp>

#include "../support/meter.hpp"
#include "edge_list.hpp"

namespace graph {

class distributed_graph {
 public:
  /// Collective. Rank 0 passes the graph, and the other ranks pass null.
  distributed_graph(tutti::communicator& world, const edge_list* global, meter& meter) {
    using namespace tutti;
    if (global) vertices_ = static_cast<vertex>(global->names.size());
    world.bcast(send_recv_buf(vertices_));
    block_ = vertices_ / world.size() + (vertices_ % world.size() != 0);
    first_ = first(world.rank());
    last_ = first(world.rank() + 1);
    begin_.resize(size() + 1);

    // Each rank gets an equal share of the edges and forwards them to the owners of their ends.
    const std::size_t edges = global ? global->edges.size() : 0, p = world.size();
    std::vector<std::size_t> shares(p);
    for (std::size_t r = 0; r < p; ++r) shares[r] = edges * (r + 1) / p - edges * r / p;
    const std::vector<edge> share =
        global ? world.scatterv(send_buf(global->edges), send_counts(shares)) : world.scatterv<edge>(root(0));
    meter.sent(collective::scatterv, global ? (edges - shares[0]) * sizeof(edge) : 0);
    outbox<edge> out;
    for (const edge& e : share) {
      out.post(owner(e.from), e);
      out.post(owner(e.to), {e.to, e.from});
    }
    const std::vector<edge> mine = exchange(world, out, meter);

    // Stores the neighbors of a vertex contiguously: counts first, then positions.
    for (const edge& e : mine) ++begin_[local(e.from)];
    std::exclusive_scan(begin_.begin(), begin_.end(), begin_.begin(), std::size_t{0});
    neighbors_.resize(mine.size());
    auto next_slot = begin_;
    for (const edge& e : mine) neighbors_[next_slot[local(e.from)]++] = e.to;
  }

  /// The same, without a meter for the bytes sent.
  distributed_graph(tutti::communicator& world, const edge_list* global) {
    meter unused(world);
    *this = distributed_graph(world, global, unused);
  }

  vertex vertices() const { return vertices_; }

  /// Ranks own blocks of equal size; the last blocks may be smaller or empty.
  std::uint32_t owner(vertex v) const { return v / block_; }
  bool owns(vertex v) const { return v - first() < size(); }
  std::vector<std::size_t> block_sizes(int ranks) const {
    std::vector<std::size_t> sizes(static_cast<std::size_t>(ranks));
    for (std::size_t r = 0; r < sizes.size(); ++r) sizes[r] = first(r + 1) - first(r);
    return sizes;
  }

  /// The local vertices are first(), first() + 1, ... ; local() maps them to 0 .. size() - 1.
  vertex size() const { return last_ - first_; }
  vertex first() const { return first_; }
  vertex local(vertex v) const { return v - first_; }

  std::span<const vertex> neighbors(vertex v) const {
    return {neighbors_.data() + begin_[local(v)], neighbors_.data() + begin_[local(v) + 1]};
  }

 private:
  vertex first(std::uint64_t rank) const {
    return static_cast<vertex>(std::min<std::uint64_t>(rank * block_, vertices_));
  }

  vertex vertices_ = 0, block_ = 0, first_ = 0, last_ = 0;
  std::vector<std::size_t> begin_;  ///< offsets of each vertex's neighbors, and the end of the
                                    ///< last ones
  std::vector<vertex> neighbors_;
};

/// Returns on every rank the number of vertices whose value differs from the one that rank 0
/// expects. Each rank compares its own vertices.
inline std::uint64_t differences(tutti::communicator& world, const distributed_graph& graph,
                                 const std::vector<std::uint32_t>& mine,
                                 const std::vector<std::uint32_t>* expected) {
  using namespace tutti;
  const std::vector<std::uint32_t> right =
      expected ? world.scatterv(send_buf(*expected), send_counts(graph.block_sizes(world.size())))
               : world.scatterv<std::uint32_t>(root(0));
  std::uint64_t wrong = right.size() != mine.size();
  for (std::size_t i = 0; i < mine.size() && i < right.size(); ++i) wrong += mine[i] != right[i];
  return world.allreduce_single(send_buf(wrong), op(std::plus<>{}));
}

}  // namespace graph
