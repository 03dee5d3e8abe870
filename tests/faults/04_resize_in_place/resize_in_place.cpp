// SPDX-License-Identifier: Apache-2.0
//
// Tests resize_to_fit in place: the container gets exactly the elements of the call, in every form,
// on every rank, and in repeated calls. The other policies keep elements beyond them.
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;
using ints = std::vector<int>;

namespace {

int sum_of_ranks(int p) { return p * (p - 1) / 2; }

// `call(v, n)` works on n elements of v; afterwards the first element must be `expected`.
template <class Call>
void test_sizes(int value, int expected, const Call& call) {
  for (int round = 0; round < 3; ++round)  // also as a repeated call
    for (const std::size_t n : {1u, 1u, 2u, 5u, 0u}) {
      ints v(5, value);
      call(v, static_cast<int>(n));
      check.equal(v.size(), n);
      if (n != 0) check.equal(v.back(), expected);
    }
}

void combined(communicator& world) {
  const int p = world.size(), me = world.rank(), sum = sum_of_ranks(p);
  const auto plus = op(std::plus<>{});
  test_sizes(me, sum, [&](ints& v, int n) {
    world.allreduce(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus);
  });
  test_sizes(me, sum, [&](ints& v, int n) {
    v = world.allreduce(send_recv_buf<resize_to_fit>(std::move(v)), send_count(n), plus);
  });
  test_sizes(me, sum, [&](ints& v, int n) {
    world.iallreduce(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus).wait();
  });
  test_sizes(me, sum, [&](ints& v, int n) {
    auto plan = world.allreduce_init(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus);
    plan.start();
    plan.wait();
  });
  test_sizes(me, sum, [&](ints& v, int n) {
    ints counts(static_cast<std::size_t>(p), n);
    v.resize(static_cast<std::size_t>(5 * p), me);
    world.reduce_scatter(send_recv_buf<resize_to_fit>(v), recv_counts(counts), plus);
  });
  test_sizes(me, sum, [&](ints& v, int n) {
    v.resize(static_cast<std::size_t>(5 * p), me);
    world.ireduce_scatter_block(send_recv_buf<resize_to_fit>(v), recv_count(n), plus).wait();
  });
  const int last = p - 1;
  test_sizes(me, me == last ? sum : me, [&](ints& v, int n) {
    world.reduce(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus, root(last));
  });
  test_sizes(me, me == last ? sum : me, [&](ints& v, int n) {
    world.ireduce(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus, root(last)).wait();
  });
}

void scans(communicator& world) {
  const int me = world.rank(), before = sum_of_ranks(me);
  const auto plus = op(std::plus<>{});
  test_sizes(me, before + me,
             [&](ints& v, int n) { world.scan(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus); });
  test_sizes(me, before + me, [&](ints& v, int n) {
    world.iscan(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus).wait();
  });
  test_sizes(me, before, [&](ints& v, int n) {
    world.exscan(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus);
  });
  test_sizes(me, before, [&](ints& v, int n) {
    world.iexscan(send_recv_buf<resize_to_fit>(v), send_recv_count(n), plus).wait();
  });
}

// Collectives without an operator.
void others(communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto blocks = static_cast<std::size_t>(p);
  test_sizes(me == 0 ? 9 : me, 9,
             [&](ints& v, int n) { world.bcast(send_recv_buf<resize_to_fit>(v), send_recv_count(n)); });
  test_sizes(me == 0 ? 9 : me, 9, [&](ints& v, int n) {
    world.ibcast(send_recv_buf<resize_to_fit>(v), send_recv_count(n)).wait();
  });
  for (const std::size_t n : {1u, 2u, 0u}) {
    const int count = static_cast<int>(n);
    ints v(3 * blocks, me);
    world.allgather(send_recv_buf<resize_to_fit>(v), send_count(count));
    check.equal(v.size(), n * blocks);
    v.assign(3 * blocks, me);
    world.alltoall(send_recv_buf<resize_to_fit>(v), send_count(count));
    check.equal(v.size(), n * blocks);
    v.assign(3 * blocks, me);
    world.allgatherv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(blocks, count)));
    check.equal(v.size(), n * blocks);
    v.assign(3 * blocks, me);
    world.alltoallv(send_recv_buf<resize_to_fit>(v), recv_counts(ints(blocks, count)));
    check.equal(v.size(), n * blocks);
  }
  ints passed(5, me);
  world.sendrecv(send_recv_buf<resize_to_fit>(passed), send_count(2), destination((me + 1) % p),
                 source((me + p - 1) % p));
  check.equal(passed, ints(2, (me + p - 1) % p));
}

void other_policies(communicator& world) {
  const int p = world.size(), me = world.rank(), sum = sum_of_ranks(p);
  for (int round = 0; round < 2; ++round) {
    ints v(3, me);
    world.allreduce(send_recv_buf(v), send_recv_count(1), op(std::plus<>{}));
    check.equal(v, ints{sum, me, me});
    world.allreduce(send_recv_buf<grow_only>(v), send_recv_count(1), op(ops::max<>{}));
    check.equal(v, ints{sum, me, me});
    world.bcast(send_recv_buf(v), send_recv_count(1));
    check.equal(v, ints{sum, me, me});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& run) {
    run("reductions", [&] { combined(world); });
    run("scans", [&] { scans(world); });
    run("others", [&] { others(world); });
    run("other_policies", [&] { other_policies(world); });
  });
}
