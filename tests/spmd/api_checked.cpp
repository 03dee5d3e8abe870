// SPDX-License-Identifier: Apache-2.0
//
// Tests checked mode: all ranks learn what one rank rejects, and all see a mismatch. Afterwards the
// communicator stays usable.
#include <cstdlib>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;
std::size_t at(int n) { return static_cast<std::size_t>(n); }

// Rank `who` rejects `wrong`. The error of the other ranks names the rank and the parameter. Then a
// right call must succeed.
template <class Wrong>
void expect_rejection(const communicator& world, int who, const char* operation, const char* parameter,
                      const Wrong& wrong,
                      const std::source_location& where = std::source_location::current()) {
  const int p = world.size(), me = world.rank();
  const std::string culprit = "rank " + std::to_string(who);
  for (int round = 0; round < 2; ++round) {
    if (me == who)
      check.throws<usage_error>([&] { wrong(); }, {operation, parameter}, where);
    else
      check.throws<peer_error>([&] { wrong(); }, {culprit.c_str(), operation, parameter}, where);
    check.equal(world.allreduce_single(send_buf(me + round), op(std::plus<>{})), p * (p - 1) / 2 + p * round);
  }
}

void usage_errors(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const int who = p - 1;
  const bool here = me == who;
  const ints ones(at(p), 1);
  ints out(at(p));
  expect_rejection(world, who, "allgatherv", "recv_counts", [&] {
    ints counts = ones;
    if (here) counts[at(me)] = 2;
    (void)world.allgatherv(send_buf(me), recv_counts(counts));
  });
  expect_rejection(world, who, "alltoallv", "send_counts", [&] {
    ints counts = ones;
    if (here) counts[0] = 2;
    (void)world.alltoallv(send_buf(ints(at(p))), send_counts(counts), recv_counts(ones));
  });
  expect_rejection(world, who, "allreduce", "recv_buf", [&] {
    ints output(here ? 0 : 1);
    world.allreduce(send_buf(me), op(std::plus<>{}), recv_buf(output));
  });
  if (p > 1)
    expect_rejection(world, who, "alltoall", "equal blocks",
                     [&] { (void)world.alltoall(send_buf(ints(at(here ? p + 1 : p)))); });
  expect_rejection(world, who, "bcast", "root", [&] {
    ints v(3);
    world.bcast(send_recv_buf(v), root(here ? p : 0));
  });
  expect_rejection(world, who, "iallgather", "send_count",
                   [&] { world.iallgather(send_buf(ints(here ? 1 : 2)), send_count(2)).wait(); });
  expect_rejection(world, who, "gatherv", "recv_displs", [&] {
    const ints displs(at(p), here ? -1 : 0);
    world.gatherv(send_buf(me), recv_buf(out), recv_counts(ones), recv_displs(displs), root(who));
  });
  expect_rejection(world, who, "scatter", "send_count", [&] {
    (void)world.scatter(send_buf(ints(at(p - 1))), send_count(1), recv_count(1), root(who));
  });
  const layout item = layout::vector(2, 1, 3, type_of<int>());
  expect_rejection(world, who, "allgather", "reach to byte", [&] {
    (void)world.allgather(send_buf(ints(here ? 3 : 4)), send_type(item), send_count(1));
  });
}

// All ranks make the same mistake: each throws its own error.
void refused_by_all(const communicator& world) {
  ints none;
  check.throws<usage_error>([&] { world.allreduce(send_buf(1), op(std::plus<>{}), recv_buf(none)); },
                            {"allreduce", "recv_buf"});
  check.equal(world.allreduce_single(send_buf(1), op(std::plus<>{})), world.size());
}

void differences(const communicator& world) {
  const int p = world.size(), me = world.rank();
  if (p == 1) return;
  // Two operators of different types. Only their types show that they differ.
  const auto sum = [](int a, int b) { return a + b; };
  const auto product = [](int a, int b) { return a * b; };
  for (int round = 0; round < 2; ++round) {
    check.throws<mismatch_error>(
        [&] {
          if (me == 1)
            (void)world.allreduce_single(send_buf(2), op(product, ops::commutative));
          else
            (void)world.allreduce_single(send_buf(2), op(sum, ops::commutative));
        },
        {"allreduce", "rank 1", "operator"});
    check.equal(world.allreduce_single(send_buf(2), op(sum, ops::commutative)), 2 * p);
    check.equal(world.allreduce_single(send_buf(1), op(product)), 1);
  }
  // Captures belong to a rank; the type of the operator is the same.
  const auto scaled = [me](int a, int b) { return me < 0 ? 0 : a + b; };
  check.equal(world.allreduce_single(send_buf(1), op(scaled)), p);
  // All ranks learn of a mismatch between two ranks.
  const ints counts(at(p), 1);
  check.throws<mismatch_error>(
      [&] { (void)world.gatherv(send_buf(ints(me == 1 ? 2 : 1)), recv_counts(counts)); },
      {"gatherv", "rank 1 sends 2 elements to rank 0, which expects 1"});
  check.throws<mismatch_error>(
      [&] { (void)world.scatterv(send_buf(ints(at(p))), send_counts(counts), recv_count(me == 1 ? 2 : 1)); },
      {"scatterv", "rank 0 sends 1 elements to rank 1, which expects 2"});
  check.throws<mismatch_error>(
      [&] {
        ints expected = counts;
        if (me == 1) expected[0] = 2;
        (void)world.alltoallv(send_buf(ints(at(p))), send_counts(counts), recv_counts(expected));
      },
      {"alltoallv", "rank 0 sends 1 elements to rank 1, which expects 2"});
  check.equal(world.allreduce_single(send_buf(1), op(sum)), p);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_CHECK", "1", 1);
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("usage_errors", [&] { usage_errors(world); });
    cases("refused_by_all", [&] { refused_by_all(world); });
    cases("differences", [&] { differences(world); });
  });
}
