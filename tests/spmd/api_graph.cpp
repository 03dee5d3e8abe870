// SPDX-License-Identifier: Apache-2.0
//
// Tests neighbourhood collectives: a ring, a directed star, and a random graph with repeated edges
// and self-edges.
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

// Draws edges (a, b), `times` of each; each rank takes its own.
neighbors draw(int rank, int size, unsigned seed) {
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

void all_forms(communicator& world, const neighbors& n) {
  const int me = world.rank();
  const auto g = world.graph(n.sources, n.destinations);
  check.equal(g.sources(), static_cast<int>(n.sources.size()));
  check.equal(g.destinations(), static_cast<int>(n.destinations.size()));

  // allgather: each rank sends the same elements to all
  std::vector<int> three{me, me + 1, me + 2}, expected;
  for (const int from : n.sources) expected.insert(expected.end(), {from, from + 1, from + 2});
  check.equal(g.neighbor_allgather(send_buf(three)), expected);
  check.equal(g.ineighbor_allgather(send_buf(three)).wait(), expected);
  auto again = g.neighbor_allgather_init(send_buf(three));
  for (int i = 0; i < 2; ++i) again.start(), check.equal(again.wait(), expected);

  // allgatherv: counts depend on the sender; reverse order with a gap before each block
  std::vector<int> own(count(me, me) + 1, me), dense, counts;
  for (const int from : n.sources) {
    counts.push_back(static_cast<int>(count(from, from)) + 1);
    dense.insert(dense.end(), static_cast<std::size_t>(counts.back()), from);
  }
  check.equal(g.neighbor_allgatherv(send_buf(own)), dense);
  auto [values, found] = g.neighbor_allgatherv(send_buf(own), recv_counts_out());
  check.equal(values, dense);
  check.equal(found, counts);
  std::vector<int> displs(counts.size());
  int end = 0;
  for (std::size_t i = counts.size(); i-- > 0; end += counts[i]) displs[i] = ++end;
  std::vector<int> gapped(static_cast<std::size_t>(end), -1);
  g.neighbor_allgatherv(send_buf(own), recv_counts(counts), recv_displs(displs), recv_buf(gapped));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    check.equal(gapped[static_cast<std::size_t>(displs[i]) - 1], -1);
    for (int k = 0; k < counts[i]; ++k)
      check.equal(gapped[static_cast<std::size_t>(displs[i] + k)], n.sources[i]);
  }

  // alltoall: two elements for each neighbour. The k-th edge of a pair carries k.
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
  if (!n.destinations.empty() || n.sources.empty()) {
    check.equal(g.neighbor_alltoall(send_buf(out)), in);
    check.equal(g.ineighbor_alltoall(send_buf(out)).wait(), in);
  } else {
    check.equal(g.neighbor_alltoall(send_buf(out), recv_count(2)), in);
    check.equal(g.ineighbor_alltoall(send_buf(out), recv_count(2)).wait(), in);
  }

  // alltoallv
  std::vector<int> give, sends, take, takes;
  for (const int to : n.destinations) {
    sends.push_back(static_cast<int>(count(me, to)));
    for (int i = 0; i < sends.back(); ++i) give.push_back(value(me, to, i));
  }
  for (const int from : n.sources) {
    takes.push_back(static_cast<int>(count(from, me)));
    for (int i = 0; i < takes.back(); ++i) take.push_back(value(from, me, i));
  }
  auto [received, of_each] = g.neighbor_alltoallv(send_buf(give), send_counts(sends), recv_counts_out());
  check.equal(received, take);
  check.equal(of_each, takes);
  check.equal(g.ineighbor_alltoallv(send_buf(give), send_counts(sends), recv_counts(takes)).wait(), take);
  auto plan = g.neighbor_alltoallv_init(send_buf(give), send_counts(sends), recv_counts(takes));
  for (int i = 0; i < 2; ++i) plan.start(), check.equal(plan.wait(), take);

  // Other collectives work as before, and a duplicate has the same neighbours.
  check.equal(g.allreduce_single(send_buf(1), op(std::plus<>{})), world.size());
  check.equal(g.duplicate().neighbor_allgather(send_buf(three)), expected);
}

void refusals(communicator& world) {
  const int p = world.size();
  check.throws<usage_error>([&] { (void)world.graph({p}, {0}); }, {"graph", "sources", "rank"});
  check.throws<usage_error>([&] { (void)world.graph({}, {-1}); }, {"graph", "destinations", "-1"});
  const auto g = world.graph({0}, std::initializer_list<int>{});
  (void)g;
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
    cases("ring", [&] { all_forms(world, {both, both}); });
    neighbors star;  // rank 0 sends to all, itself included, and receives only from itself
    star.sources = {0};
    if (me == 0)
      for (int r = 0; r < p; ++r) star.destinations.push_back(r);
    cases("star", [&] { all_forms(world, star); });
    cases("no_neighbors", [&] { all_forms(world, {{}, {}}); });
    if (p <= 17)
      for (unsigned seed = 1; seed <= 3; ++seed)
        cases("drawn/seed_" + std::to_string(seed), [&] { all_forms(world, draw(me, p, seed)); });
    cases("refusals", [&] { refusals(world); });
  });
}
