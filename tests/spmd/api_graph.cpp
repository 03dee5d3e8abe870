// SPDX-License-Identifier: Apache-2.0
//
// Tests neighborhood collectives on a ring, a directed star, a graph without edges, and random
// graphs with repeated edges and self-edges. Also tests the usage errors.
#include <algorithm>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

struct neighbors {
  std::vector<int> sources, destinations;
};

int value(int from, int to, int i) { return from * 1000 + to * 10 + i % 10; }
std::size_t count(int from, int to) { return static_cast<std::size_t>((from * 3 + to) % 4); }

// Draws 0, 1 or 2 copies of every edge (0 with probability 3/5). Each rank takes its own edges.
neighbors random_graph(int rank, int size, unsigned seed) {
  neighbors mine;
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b) {
      seed = seed * 1103515245u + 12345u;
      const int times = static_cast<int>(seed >> 16) % 5 - 2;
      for (int i = 0; i < times; ++i) {
        if (a == rank) mine.destinations.push_back(b);
        if (b == rank) mine.sources.push_back(a);
      }
    }
  return mine;
}

int own_length(int rank) { return static_cast<int>(count(rank, rank)) + 1; }

// Displacements of blocks in reverse order, with a gap of one element before each block.
std::vector<int> reverse_with_gaps(const std::vector<int>& counts) {
  std::vector<int> displs(counts.size());
  int end = 0;
  for (std::size_t i = counts.size(); i-- > 0;) {
    displs[i] = end + 1;
    end = displs[i] + counts[i];
  }
  return displs;
}

void test_all_collectives(communicator& world, const neighbors& n) {
  const int me = world.rank();
  const auto g = world.graph(n.sources, n.destinations);
  check.equal(g.sources(), static_cast<int>(n.sources.size()));
  check.equal(g.destinations(), static_cast<int>(n.destinations.size()));

  // allgather: each rank sends the same elements to all
  std::vector<int> mine{me, me + 1, me + 2}, expected;
  for (const int from : n.sources) expected.insert(expected.end(), {from, from + 1, from + 2});
  check.equal(g.neighbor_allgather(send_buf(mine)), expected);
  check.equal(g.ineighbor_allgather(send_buf(mine)).wait(), expected);
  auto persistent_allgather = g.neighbor_allgather_init(send_buf(mine));
  for (int i = 0; i < 2; ++i) {
    persistent_allgather.start();
    check.equal(persistent_allgather.wait(), expected);
  }

  // allgatherv: counts depend on the sender
  const std::vector<int> own_block(static_cast<std::size_t>(own_length(me)), me);
  std::vector<int> expected_blocks, counts;
  for (const int from : n.sources) {
    counts.push_back(own_length(from));
    expected_blocks.insert(expected_blocks.end(), static_cast<std::size_t>(counts.back()), from);
  }
  check.equal(g.neighbor_allgatherv(send_buf(own_block)), expected_blocks);
  auto [values, inferred_counts] = g.neighbor_allgatherv(send_buf(own_block), recv_counts_out());
  check.equal(values, expected_blocks);
  check.equal(inferred_counts, counts);
  const std::vector<int> displs = reverse_with_gaps(counts);
  std::vector<int> gapped(expected_blocks.size() + counts.size(), -1);
  g.neighbor_allgatherv(send_buf(own_block), recv_counts(counts), recv_displs(displs), recv_buf(gapped));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    check.equal(gapped[static_cast<std::size_t>(displs[i]) - 1], -1);
    for (int k = 0; k < counts[i]; ++k)
      check.equal(gapped[static_cast<std::size_t>(displs[i] + k)], n.sources[i]);
  }

  // alltoall: two elements for each neighbor. The k-th edge of a pair carries k.
  const auto occurrence = [](const std::vector<int>& list, std::size_t i) {
    return static_cast<int>(std::count(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]));
  };
  std::vector<int> out, in;
  for (std::size_t i = 0; i < n.destinations.size(); ++i) {
    const int to = n.destinations[i];
    out.insert(out.end(), {value(me, to, 1), occurrence(n.destinations, i)});
  }
  for (std::size_t i = 0; i < n.sources.size(); ++i)
    in.insert(in.end(), {value(n.sources[i], me, 1), occurrence(n.sources, i)});
  // A rank with sources but no destinations cannot infer the block length; it gives recv_count.
  if (!n.destinations.empty() || n.sources.empty()) {
    check.equal(g.neighbor_alltoall(send_buf(out)), in);
    check.equal(g.ineighbor_alltoall(send_buf(out)).wait(), in);
  } else {
    check.equal(g.neighbor_alltoall(send_buf(out), recv_count(2)), in);
    check.equal(g.ineighbor_alltoall(send_buf(out), recv_count(2)).wait(), in);
  }

  // alltoallv
  std::vector<int> sent, sends, expected_values, expected_counts;
  for (const int to : n.destinations) {
    sends.push_back(static_cast<int>(count(me, to)));
    for (int i = 0; i < sends.back(); ++i) sent.push_back(value(me, to, i));
  }
  for (const int from : n.sources) {
    expected_counts.push_back(static_cast<int>(count(from, me)));
    for (int i = 0; i < expected_counts.back(); ++i) expected_values.push_back(value(from, me, i));
  }
  auto [received, received_counts] =
      g.neighbor_alltoallv(send_buf(sent), send_counts(sends), recv_counts_out());
  check.equal(received, expected_values);
  check.equal(received_counts, expected_counts);
  check.equal(g.ineighbor_alltoallv(send_buf(sent), send_counts(sends), recv_counts(expected_counts)).wait(),
              expected_values);
  auto persistent_alltoallv =
      g.neighbor_alltoallv_init(send_buf(sent), send_counts(sends), recv_counts(expected_counts));
  for (int i = 0; i < 2; ++i) {
    persistent_alltoallv.start();
    check.equal(persistent_alltoallv.wait(), expected_values);
  }

  // Other collectives work as before, and a duplicate has the same neighbors.
  check.equal(g.allreduce_single(send_buf(1), op(std::plus<>{})), world.size());
  check.equal(g.duplicate().neighbor_allgather(send_buf(mine)), expected);
}

void usage_errors(communicator& world) {
  const int p = world.size();
  check.throws<usage_error>([&] { (void)world.graph({p}, {0}); }, {"graph", "sources", "rank"});
  check.throws<usage_error>([&] { (void)world.graph({}, {-1}); }, {"graph", "destinations", "-1"});
  // Each rank names rank 0 as a source, but rank 0 names no destination. graph() does not compare
  // the lists of different ranks, so it does not throw.
  [[maybe_unused]] const auto inconsistent = world.graph({0}, std::initializer_list<int>{});
  const auto ring = world.graph({(world.rank() + p - 1) % p}, {(world.rank() + 1) % p});
  check.throws<usage_error>(
      [&] {
        ring.neighbor_alltoallv(send_buf({1, 2}), send_counts({1, 1}), recv_counts({1}));
      },
      {"neighbor_alltoallv", "send_counts"});
  std::vector<int> small;
  check.throws<usage_error>([&] { ring.neighbor_allgather(send_buf(7), recv_buf(small)); },
                            {"neighbor_allgather", "recv_buf"});
  check.equal(ring.neighbor_allgather(send_buf(world.rank())).front(), (world.rank() + p - 1) % p);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const int p = world.size(), me = world.rank();
    const std::vector<int> both{(me + p - 1) % p, (me + 1) % p};
    cases("ring", [&] { test_all_collectives(world, {both, both}); });
    neighbors star;  // rank 0 sends to all, itself included, and receives only from itself
    star.sources = {0};
    if (me == 0)
      for (int r = 0; r < p; ++r) star.destinations.push_back(r);
    cases("star", [&] { test_all_collectives(world, star); });
    cases("no_neighbors", [&] { test_all_collectives(world, {{}, {}}); });
    if (p <= 17)
      for (unsigned seed = 1; seed <= 3; ++seed)
        cases("random/seed_" + std::to_string(seed),
              [&] { test_all_collectives(world, random_graph(me, p, seed)); });
    cases("usage_errors", [&] { usage_errors(world); });
  });
}
