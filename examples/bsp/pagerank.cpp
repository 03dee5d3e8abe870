// SPDX-License-Identifier: Apache-2.0
//
// PageRank in LPF's interface, of the dependency graph of Debian's packages: it finds the packages
// that are needed most. Process 0 reads the graph. Each process has a block of the vertices, and
// the edges that lead to them. An iteration is one superstep, in which each process gets the
// contributions of all vertices.
//
//   bsp_pagerank [EDGES]  uses this edge list in place of the packages
//
// Source: Page, Brin, Motwani, Winograd 1999.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include <lpf/collectives.h>
#include <lpf/core.h>

#include "graph/packages.hpp"

namespace {

using graph::edge;
using graph::vertex;

constexpr int iterations = 50;
// damping factor: with the remaining probability a walk starts at any vertex
constexpr double followed = 0.85;

/// The graph before it is distributed: edges by their ends, and the out-degree of each vertex.
struct serial_graph {
  std::size_t vertices = 0;
  std::vector<edge> edges;
  std::vector<std::uint32_t> degrees;

  explicit serial_graph(const graph::edge_list& list)
      : vertices(list.names.size()), edges(list.edges), degrees(vertices) {
    std::stable_sort(edges.begin(), edges.end(), [](const edge& a, const edge& b) { return a.to < b.to; });
    for (const edge& e : edges) ++degrees[e.from];
  }
};

/// The serial PageRank, by its definition.
std::vector<double> pagerank(const serial_graph& graph) {
  const auto n = static_cast<double>(graph.vertices);
  std::vector<double> rank(graph.vertices, 1 / n), next;
  for (int i = 0; i < iterations; ++i) {
    double lost = 0;
    for (std::size_t v = 0; v < graph.vertices; ++v)
      if (graph.degrees[v] == 0) lost += rank[v];
    next.assign(graph.vertices, (1 - followed + followed * lost) / n);
    for (const edge& e : graph.edges) next[e.to] += followed * rank[e.from] / graph.degrees[e.from];
    rank.swap(next);
  }
  return rank;
}

void must(lpf_err_t end) {
  if (end != LPF_SUCCESS) throw std::runtime_error("pagerank: a call of LPF failed");
}

template <class T>
lpf_memslot_t registered(lpf_t ctx, const std::vector<T>& v) {
  lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
  must(lpf_register_global(ctx, const_cast<T*>(v.data()), v.size() * sizeof(T), &slot));
  return slot;
}

void add(std::size_t n, const void* array, void* value) {
  for (std::size_t i = 0; i < n; ++i) *static_cast<double*>(value) += static_cast<const double*>(array)[i];
}

/// The part of the graph that one process has.
struct my_part {
  std::size_t vertices = 0, block = 0, first = 0;  // of the graph; of a block; first local vertex
  std::vector<std::uint32_t> degrees;              // of local vertices
  std::vector<edge> edges;                         // that lead to local vertices

  my_part(lpf_t ctx, std::size_t s, std::size_t p, const serial_graph* global) {
    // On process 0: the number of vertices, and the offset of the first edge of each process.
    std::vector<std::size_t> table(global != nullptr ? p + 2 : 0), mine(3);
    if (global != nullptr) {
      table[0] = global->vertices;
      for (std::size_t k = 0; k <= p; ++k)
        table[k + 1] = static_cast<std::size_t>(
            std::partition_point(global->edges.begin(), global->edges.end(),
                                 [&](const edge& e) { return e.to < k * block_of(table[0], p); }) -
            global->edges.begin());
    }
    const lpf_memslot_t tables = registered(ctx, table), here = registered(ctx, mine);
    const lpf_memslot_t all_edges = registered(ctx, global != nullptr ? global->edges : edges);
    const lpf_memslot_t all_degrees = registered(ctx, global != nullptr ? global->degrees : degrees);
    must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
    must(lpf_get(ctx, 0, tables, 0, here, 0, sizeof mine[0], LPF_MSG_DEFAULT));
    must(lpf_get(ctx, 0, tables, (s + 1) * sizeof mine[0], here, sizeof mine[0], 2 * sizeof mine[0],
                 LPF_MSG_DEFAULT));
    must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
    vertices = mine[0];
    block = block_of(vertices, p);
    first = std::min(s * block, vertices);
    edges.resize(mine[2] - mine[1]);
    degrees.resize(std::min(block, vertices - first));
    const lpf_memslot_t my_edges = registered(ctx, edges), my_degrees = registered(ctx, degrees);
    must(lpf_get(ctx, 0, all_edges, mine[1] * sizeof(edge), my_edges, 0, edges.size() * sizeof(edge),
                 LPF_MSG_DEFAULT));
    must(lpf_get(ctx, 0, all_degrees, first * sizeof degrees[0], my_degrees, 0,
                 degrees.size() * sizeof degrees[0], LPF_MSG_DEFAULT));
    must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
    for (const lpf_memslot_t slot : {tables, here, all_edges, all_degrees, my_edges, my_degrees})
      must(lpf_deregister(ctx, slot));
  }
  static std::size_t block_of(std::size_t vertices, std::size_t p) { return (vertices + p - 1) / p; }
};

/// Runs on every process. Process 0 receives the graph as input and returns the ranks as output.
void pagerank(const lpf_t ctx, const lpf_pid_t s, const lpf_pid_t p, const lpf_args_t args) {
  must(lpf_resize_memory_register(ctx, 8));
  must(lpf_resize_message_queue(ctx, 4 * p));
  must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  const my_part part(ctx, s, p, static_cast<const serial_graph*>(args.input));
  const auto n = static_cast<double>(part.vertices);
  std::vector<double> rank(part.block, 1 / n), sent(part.block), received(part.block * p), lost(1);
  rank.resize(part.degrees.size());

  lpf_coll_t all = LPF_INVALID_COLL;
  must(lpf_collectives_init(ctx, s, p, 2, sizeof(double), part.block * sizeof(double), &all));
  const lpf_memslot_t from = registered(ctx, sent), into = registered(ctx, received);
  const lpf_memslot_t sum = registered(ctx, lost);
  must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  for (int i = 0; i < iterations; ++i) {
    lost[0] = 0;
    for (std::size_t v = 0; v < rank.size(); ++v) {
      sent[v] = part.degrees[v] > 0 ? rank[v] / part.degrees[v] : 0;
      if (part.degrees[v] == 0) lost[0] += rank[v];
    }
    must(lpf_allgather(all, from, into, part.block * sizeof(double), false));
    must(lpf_allreduce(all, lost.data(), sum, sizeof(double), &add));
    must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
    std::fill(rank.begin(), rank.end(), (1 - followed + followed * lost[0]) / n);
    for (const edge& e : part.edges) rank[e.to - part.first] += followed * received[e.from];
  }
  std::copy(rank.begin(), rank.end(), sent.begin());
  must(lpf_allgather(all, from, into, part.block * sizeof(double), false));
  must(lpf_sync(ctx, LPF_SYNC_DEFAULT));
  if (args.output != nullptr) std::memcpy(args.output, received.data(), args.output_size);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const graph::edge_list list = argc > 1 ? graph::read_edges(argv[1]) : graph::read_packages();
    const serial_graph global(list);
    std::vector<double> rank(global.vertices);
    lpf_args_t args = LPF_NO_ARGS;
    args.input = &global;
    args.input_size = sizeof global;
    args.output = rank.data();
    args.output_size = rank.size() * sizeof(double);
    if (lpf_exec(LPF_ROOT, LPF_MAX_P, &pagerank, args) != LPF_SUCCESS) return 1;

    const std::vector<double> right = pagerank(global);
    for (std::size_t v = 0; v < rank.size(); ++v)
      if (!(std::abs(rank[v] - right[v]) < 1e-9 * right[v]))
        throw std::runtime_error("pagerank: differs from a serial program");
    std::vector<vertex> order(rank.size());
    std::iota(order.begin(), order.end(), vertex{0});
    const auto most = order.begin() + std::min<std::ptrdiff_t>(5, std::ssize(order));
    std::partial_sort(order.begin(), most, order.end(),
                      [&](vertex a, vertex b) { return rank[a] > rank[b]; });
    fmt::print("pagerank of {} vertices, {} edges, {}: equal to a serial program\n", global.vertices,
               global.edges.size(), list.origin);
    for (auto v = order.begin(); v != most; ++v) fmt::print("  {:.4f} {}\n", rank[*v], list.names[*v]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
