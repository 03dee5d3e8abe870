// SPDX-License-Identifier: Apache-2.0
//
// Tests breadth-first search on a distributed graph. It exchanges the frontier in the three ways
// that KaMPIng offers: alltoallv of flattened buffers, sparse, and over a grid.
#include <queue>
#include <unordered_map>

#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

using vertex = std::size_t;
using Comm =
    Communicator<std::vector, plugin::SparseAlltoall, plugin::GridCommunicator, plugin::DispatchAlltoall>;
using Buffers = std::unordered_map<int, std::vector<vertex>>;
constexpr vertex vertices_a_rank = 40;
constexpr std::size_t unreached = static_cast<std::size_t>(-1);

std::vector<vertex> neighbors(vertex v, vertex n) { return {(v + 1) % n, (5 * v + 3) % n, (v * v + 7) % n}; }
vertex size_of_graph(const Comm& comm) { return vertices_a_rank * comm.size(); }

template <class Exchange>
std::vector<std::size_t> bfs(const Comm& comm, vertex start, Exchange&& exchange) {
  const vertex first = vertices_a_rank * comm.rank(), n = size_of_graph(comm);
  std::vector<std::size_t> distance(vertices_a_rank, unreached);
  std::vector<vertex> frontier;
  if (start / vertices_a_rank == comm.rank()) frontier.push_back(start);
  for (std::size_t level = 0; !comm.allreduce_single(send_buf(frontier.empty()), op(std::logical_and<>{}));
       ++level) {
    Buffers next;
    for (vertex v : frontier) {
      if (distance[v - first] != unreached) continue;
      distance[v - first] = level;
      for (vertex u : neighbors(v, n)) next[static_cast<int>(u / vertices_a_rank)].push_back(u);
    }
    frontier = exchange(next);
  }
  return distance;
}

std::vector<std::size_t> oracle(const Comm& comm, vertex start) {
  const vertex n = size_of_graph(comm);
  std::vector<std::size_t> distance(n, unreached);
  std::queue<vertex> left;
  left.push(start);
  distance[start] = 0;
  while (!left.empty()) {
    const vertex v = left.front();
    left.pop();
    for (vertex u : neighbors(v, n))
      if (distance[u] == unreached) distance[u] = distance[v] + 1, left.push(u);
  }
  return {distance.begin() + static_cast<std::ptrdiff_t>(vertices_a_rank * comm.rank()),
          distance.begin() + static_cast<std::ptrdiff_t>(vertices_a_rank * (comm.rank() + 1))};
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Comm comm;
    const vertex start = size_of_graph(comm) / 2;
    const auto expected = oracle(comm, start);

    const auto dense = bfs(comm, start, [&](const Buffers& next) {
      return with_flattened(next, comm.size()).call([&](auto... flattened) {
        return comm.alltoallv(std::move(flattened)...);
      });
    });
    check.equal(dense, expected);

    const auto sparse = bfs(comm, start, [&](const Buffers& next) {
      using namespace plugin::sparse_alltoall;
      std::vector<vertex> frontier;
      comm.alltoallv_sparse(sparse_send_buf(next), on_message([&](auto& probed_message) {
                              check.that(probed_message.source() < comm.size());
                              const std::size_t n = probed_message.recv_count();
                              std::vector<vertex> part;
                              if (n % 2 == 0)
                                part = probed_message.recv();
                              else
                                probed_message.recv(recv_buf<resize_to_fit>(part));
                              check.equal(part.size(), n);
                              frontier.insert(frontier.end(), part.begin(), part.end());
                            }));
      return frontier;
    });
    check.equal(sparse, expected);

    const auto grid_comm = comm.make_grid_communicator();
    const auto over_grid = bfs(comm, start, [&](const Buffers& next) {
      return with_flattened(next, comm.size()).call([&](auto... flattened) {
        return grid_comm.alltoallv(std::move(flattened)...);
      });
    });
    check.equal(over_grid, expected);

    const auto dispatched = bfs(comm, start, [&](const Buffers& next) {
      return with_flattened(next, comm.size()).call([&](auto... flattened) {
        return comm.alltoallv_dispatch(std::move(flattened)...,
                                       plugin::dispatch_alltoall::comm_volume_threshold(1000));
      });
    });
    check.equal(dispatched, expected);
  });
}
