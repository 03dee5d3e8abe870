// SPDX-License-Identifier: Apache-2.0
//
// Tests reductions and scans in every parameter form: operators with state, order of operands,
// identities. Also tests nonblocking and persistent calls.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <tutti/tutti.hpp>

#include "support/affine.hpp"
#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::affine;
using tests::check;
using tests::compose;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
int value(int r, int i) { return (r + 1) * (i + 2); }
std::vector<int> block(int r, int n) {
  std::vector<int> v;
  for (int i = 0; i < n; ++i) v.push_back(value(r, i));
  return v;
}
// The sum over ranks first .. last-1.
std::vector<int> sum(int first, int last, int n) {
  std::vector<int> v(at(n));
  for (int r = first; r < last; ++r)
    for (int i = 0; i < n; ++i) v[at(i)] += value(r, i);
  return v;
}

void reduces(const communicator& comm, int q, int n) {
  const int p = comm.size(), me = comm.rank();
  const std::vector<int> mine = block(me, n), all = sum(0, p, n), none;
  const auto add = [](int a, int b) { return a + b; };
  check.equal(comm.allreduce(send_buf(mine), op(std::plus<>{})), all);
  check.equal(comm.allreduce(op(std::plus<int>{}), send_buf(mine)), all);
  check.equal(comm.allreduce(send_buf(mine), op(ops::plus<>{})), all);
  check.equal(comm.allreduce(send_buf(mine), op(add, ops::commutative)), all);
  check.equal(comm.allreduce(send_buf(mine), op(add, ops::non_commutative)), all);
  check.equal(comm.allreduce(send_buf(mine), op(add)), all);
  check.equal(comm.reduce(send_buf(mine), op(std::plus<>{}), root(q)), me == q ? all : none);
  {
    std::vector<int> w(at(n), -1);
    comm.reduce(send_buf(mine), op(std::plus<>{}), root(q), recv_buf(w));
    check.equal(w, me == q ? all : std::vector<int>(at(n), -1));
    comm.allreduce(send_buf(mine), op(std::plus<>{}), recv_buf_out(w));
    check.equal(w, all);
    auto v = mine;
    comm.allreduce(send_recv_buf(v), op(std::plus<>{}));
    check.equal(v, all);
    v = mine;
    comm.reduce(send_recv_buf(v), op(std::plus<>{}), root(q));
    check.equal(v, me == q ? all : mine);
    const int* storage = w.data();
    w = mine;
    const auto back = comm.allreduce(send_recv_buf(std::move(w)), op(std::plus<>{}));
    check.equal(back, all);
    check.that(back.data() == storage);
  }
  {
    check.equal(comm.allreduce(send_buf(block(me, n + 1)), send_recv_count(n), op(std::plus<>{})), all);
    auto [prefix, count] = comm.allreduce(send_buf(mine), op(std::plus<>{}), send_recv_count_out());
    check.equal(prefix, all);
    check.equal(count, n);
  }
}

void singles(const communicator& comm) {
  const int p = comm.size(), me = comm.rank(), q = p - 1;
  check.equal(comm.allreduce_single(send_buf(me), op(ops::max<>{})), p - 1);
  check.equal(comm.allreduce_single(send_buf(1.5), op(ops::min<>{})), 1.5);
  check.equal(comm.allreduce(send_buf(me), op(std::plus<>{})), std::vector<int>{p * (p - 1) / 2});
  int x = me + 1;
  comm.allreduce(send_recv_buf(x), op(ops::max<>{}));
  check.equal(x, p);
  const std::optional<int> at_root = comm.reduce_single(send_buf(1), op(std::plus<>{}), root(q));
  check.that(at_root.has_value() == (me == q));
  check.equal(at_root.value_or(p), p);
  check.equal(comm.scan_single(send_buf(1), op(std::plus<>{})), me + 1);
  check.equal(comm.exscan_single(send_buf(1), op(std::plus<>{})), me);
  check.equal(comm.exscan_single(send_buf(7), op(std::plus<>{}), values_on_rank_0(-5)),
              me == 0 ? -5 : 7 * me);
  const int one = comm.iallreduce_single(send_buf(me), op(ops::max<>{})).wait();
  check.equal(one, p - 1);
}

void scans(const communicator& comm, int n) {
  const int me = comm.rank();
  const std::vector<int> mine = block(me, n);
  check.equal(comm.scan(send_buf(mine), op(std::plus<>{})), sum(0, me + 1, n));
  check.equal(comm.exscan(send_buf(mine), op(std::plus<>{})), sum(0, me, n));
  auto v = mine;
  comm.scan(send_recv_buf(v), op(std::plus<>{}));
  check.equal(v, sum(0, me + 1, n));
  v = mine;
  comm.exscan(send_recv_buf(v), op(std::plus<>{}));
  check.equal(v, sum(0, me, n));
  const auto add = [](int a, int b) { return a + b; };
  const std::vector<int> on_0(at(n), 77);
  check.equal(comm.exscan(send_buf(mine), op(add), values_on_rank_0(77)), me == 0 ? on_0 : sum(0, me, n));
  check.equal(comm.exscan(send_buf(mine), op(add), values_on_rank_0(on_0)), me == 0 ? on_0 : sum(0, me, n));
  if (n == 2)
    check.equal(comm.exscan(send_buf(mine), op(add), values_on_rank_0({77, 78})),
                me == 0 ? std::vector<int>{77, 78} : sum(0, me, n));
  if (me == 0) {
    // The identity of each standard functor.
    check.equal(comm.exscan_single(send_buf(3), op(std::multiplies<>{})), 1);
    check.equal(comm.exscan_single(send_buf(3), op(ops::min<>{})), std::numeric_limits<int>::max());
    check.equal(comm.exscan_single(send_buf(3.0), op(ops::max<>{})),
                -std::numeric_limits<double>::infinity());
    check.equal(comm.exscan_single(send_buf(3), op(std::bit_and<>{})), -1);
    check.equal(comm.exscan_single(send_buf(false), op(std::logical_and<>{})), true);
  } else {
    (void)comm.exscan_single(send_buf(3), op(std::multiplies<>{}));
    (void)comm.exscan_single(send_buf(3), op(ops::min<>{}));
    (void)comm.exscan_single(send_buf(3.0), op(ops::max<>{}));
    (void)comm.exscan_single(send_buf(3), op(std::bit_and<>{}));
    (void)comm.exscan_single(send_buf(false), op(std::logical_and<>{}));
  }
}

void reduce_scatters(const communicator& comm, int n) {
  const int p = comm.size(), me = comm.rank();
  const std::vector<int> mine = block(me, n * p), all = sum(0, p, n * p);
  const std::vector<int> expected(all.begin() + me * n, all.begin() + (me + 1) * n);
  check.equal(comm.reduce_scatter_block(send_buf(mine), op(std::plus<>{})), expected);
  check.equal(comm.reduce_scatter_block(send_buf(block(me, n * p + 1)), op(std::plus<>{}), recv_count(n)),
              expected);
  auto v = mine;
  check.equal(comm.reduce_scatter_block(send_recv_buf<resize_to_fit>(std::move(v)), op(std::plus<>{})),
              expected);
  check.equal(comm.ireduce_scatter_block(send_buf(mine), op(std::plus<>{})).wait(), expected);

  // Blocks of n, n + 1, n + 2 ... elements. An operator that returns its left operand shows the
  // order.
  std::vector<int> counts(static_cast<std::size_t>(p));
  int before = 0, total = 0;
  for (int r = 0; r < p; ++r) {
    counts[static_cast<std::size_t>(r)] = n + r;
    if (r < me) before += n + r;
    total += n + r;
  }
  const std::vector<int> operand = block(me, total), sums = sum(0, p, total), first = block(0, total);
  const auto part = [&](const std::vector<int>& v) {
    return std::vector<int>(v.begin() + before, v.begin() + before + n + me);
  };
  check.equal(comm.reduce_scatter(send_buf(operand), op(std::plus<>{}), recv_counts(counts)), part(sums));
  check.equal(comm.ireduce_scatter(send_buf(operand), op(std::plus<>{}), recv_counts(counts)).wait(),
              part(sums));
  check.equal(comm.reduce_scatter(send_buf(operand), op([](int a, int) { return a; }, ops::non_commutative),
                                  recv_counts(counts)),
              part(first));
  auto plan = comm.reduce_scatter_init(send_buf(operand), op(std::plus<>{}), recv_counts(counts));
  for (int i = 0; i < 2; ++i) {
    plan.start();
    check.equal(plan.wait(), part(sums));
  }
}

// Operands are combined in rank order, whichever algorithm runs.
void order(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const auto of = [](int r) { return affine{2u + unsigned(r), 3u * unsigned(r) + 1u}; };
  affine expected = of(0), before = of(0), upto = of(0);
  for (int r = 1; r < p; ++r) {
    expected = compose(expected, of(r));
    if (r < me) before = compose(before, of(r));
    if (r <= me) upto = compose(upto, of(r));
  }
  check.that(comm.allreduce_single(send_buf(of(me)), op(compose)) == expected);
  check.that(comm.allreduce_single(send_buf(of(me)), op(compose, ops::non_commutative)) == expected);
  check.that(comm.scan_single(send_buf(of(me)), op(&compose)) == upto);
  const auto at_root = comm.reduce_single(send_buf(of(me)), op(compose));
  check.equal(at_root.has_value(), comm.is_root());
  check.that(!at_root || *at_root == expected);
  const affine prefix = comm.exscan_single(send_buf(of(me)), op(compose), values_on_rank_0(affine{9, 9}));
  check.that(prefix == (me == 0 ? affine{9, 9} : before));

  // Of equal operands the left one is the maximum, so the result has the sign of rank 0's zero.
  // Another order, or another maximum function, would lose the sign.
  for (const std::size_t n : {1, 100, 5000}) {
    const std::vector<double> zeros(n, me == 0 ? -0.0 : 0.0);
    const auto maxima = comm.allreduce(send_buf(zeros), op(ops::max<>{}, ops::non_commutative));
    check.equal(maxima.size(), n);
    for (const double zero : maxima) check.that(zero == 0 && std::signbit(zero));
  }
}

// Sums of small integers wrap around on every engine, although an MPI may saturate them.
void small_integers(const communicator& comm) {
  const auto p = static_cast<unsigned>(comm.size());
  check.equal(comm.allreduce_single(send_buf(std::uint8_t{200}), op(std::plus<>{})),
              static_cast<std::uint8_t>(200 * p));
  for (const std::size_t n : {1, 1000}) {
    const std::vector<std::uint16_t> mine(n, 50000);
    for (const std::uint16_t one : comm.allreduce(send_buf(mine), op(std::plus<>{})))
      check.equal(one, static_cast<std::uint16_t>(50000 * p));
  }
}

// A blocking call must not depend on other operations in progress on its rank, because they may
// have completed on other ranks.
void blocking_beside_nonblocking(const communicator& world) {
  const communicator comm = world.duplicate();
  const int p = comm.size();
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<int> v(1000, comm.rank() == 0 ? turn : -1);
    auto sent = comm.ibcast(send_recv_buf(v), send_recv_count(v.size()), algorithm("linear"));
    check.equal(comm.allreduce_single(send_buf(1), op(std::plus<>{})), p);
    check.equal(comm.allreduce(send_buf(std::vector<int>(5000, 1)), op(std::plus<>{})),
                std::vector<int>(5000, p));
    sent.wait();
    check.equal(v, std::vector<int>(1000, turn));
  }
}

// Each call uses the state of its own operator, not of the first one.
void state(const communicator& comm) {
  const int p = comm.size();
  for (int k : {0, 50, 7}) {
    const auto shifted = [k](int a, int b) { return a + b + k; };
    check.equal(comm.allreduce_single(send_buf(1), op(shifted, ops::commutative)), p + (p - 1) * k);
  }
  struct counting {
    std::unique_ptr<int> offset;
    int operator()(int a, int b) { return a + b + *offset; }
  };
  check.equal(comm.allreduce_single(send_buf(1), op(counting{std::make_unique<int>(3)})), p + (p - 1) * 3);
  auto first = comm.iallreduce_single(send_buf(1), op([k = 10](int a, int b) { return a + b + k; }));
  auto second = comm.iallreduce_single(send_buf(1), op(counting{std::make_unique<int>(20)}));
  check.equal(second.wait(), p + (p - 1) * 20);
  check.equal(first.wait(), p + (p - 1) * 10);
}

void requests(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  {
    auto request = comm.iallreduce(send_buf(block(me, 100)), op(std::plus<>{}));
    auto moved = std::move(request);
    check.that(!request.valid() && moved.valid());
    for (;;) {
      if (const auto done = moved.test()) {
        check.equal(*done, sum(0, p, 100));
        break;
      }
    }
    check.throws<usage_error>([&] { (void)moved.wait(); }, {"wait"});
    check.throws<usage_error>([&] { (void)request.wait(); }, {"wait"});
  }
  // The destructor waits.
  { auto dropped = comm.iallreduce(send_buf(block(me, 1000)), op(std::plus<>{})); }
  {
    auto overwritten = comm.iallreduce(send_buf(block(me, 1000)), op(std::plus<>{}));
    overwritten = comm.iallreduce(send_buf(block(me, 10)), op(std::plus<>{}));
    check.equal(overwritten.wait(), sum(0, p, 10));
  }
  {
    std::vector<int> v = block(me, 5), w(5);
    auto request = comm.iallreduce(send_buf(v), op(std::plus<>{}), recv_buf(w));
    static_assert(std::is_void_v<decltype(request.wait())>);
    while (!request.test()) {
    }
    check.equal(w, sum(0, p, 5));
  }
}

void plans(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  std::vector<int> v(4), w(4);
  auto step = comm.allreduce_init(send_buf(v), op(std::plus<>{}));
  auto into = comm.allreduce_init(send_buf(v), op(std::plus<>{}), recv_buf(w));
  auto before = comm.exscan_single_init(send_buf(v[0]), op(std::plus<>{}));
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 4; ++i) v[at(i)] = value(me, i + round);
    std::vector<int> expected(4);
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < 4; ++i) expected[at(i)] += value(r, i + round);
    step.start();
    const std::vector<int>& got = step.wait();
    check.equal(got, expected);
    into.start();
    while (!into.test()) {
    }
    into.wait();
    check.equal(w, expected);
    before.start();
    int sum_before = 0;
    for (int r = 0; r < me; ++r) sum_before += value(r, round);
    check.equal(before.wait(), sum_before);
  }
}

// Until the program has waited, a plan is in progress, even if its run is over.
void started_twice(const communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const std::vector<int> v(4, 1);
  std::vector<int> spaced{me, -1, me};
  auto sum = comm.allreduce_init(send_buf(v), op(std::plus<>{}));
  auto values = comm.bcast_init(send_recv_buf(spaced), send_recv_count(1), root(p - 1),
                                send_recv_type(layout::vector(2, sizeof(int), 2 * sizeof(int))));
  for (int round = 0; round < 2; ++round) {
    sum.start();
    values.start();
    for (int i = 0; i < 3; ++i) comm.barrier();  // progresses the runs, as a rule to their ends
    check.throws<usage_error>([&] { sum.start(); }, {"allreduce", "in progress"});
    check.throws<usage_error>([&] { values.start(); }, {"bcast", "in progress"});
    check.equal(sum.wait(), std::vector<int>(4, p));
    while (!values.test()) {
    }
    check.equal(spaced, std::vector<int>{p - 1, -1, p - 1});
  }
}

void communicators(communicator& comm) {
  communicator copy = comm;  // no communication: one rank alone may do it
  communicator other = copy.duplicate();
  check.equal(other.rank(), comm.rank());
  check.equal(other.size(), comm.size());
  check.equal(other.allreduce_single(send_buf(1), op(std::plus<>{})), comm.size());
  other.free();
  check.throws<usage_error>([&] { other.barrier(); }, {"barrier"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    for (int n : {0, 1, 2, 37, 4000}) {
      const std::string count = "/count_" + std::to_string(n);
      for (int q : {0, comm.size() - 1})
        cases("reduces/root_" + std::to_string(q) + count, [&] { reduces(comm, q, n); });
      cases("scans" + count, [&] { scans(comm, n); });
      if (n < 100) cases("reduce_scatters" + count, [&] { reduce_scatters(comm, n); });
    }
    cases("singles", [&] { singles(comm); });
    cases("order", [&] { order(comm); });
    cases("state", [&] { state(comm); });
    cases("small_integers", [&] { small_integers(comm); });
    cases("blocking_beside_nonblocking", [&] { blocking_beside_nonblocking(comm); });
    cases("requests", [&] { requests(comm); });
    cases("plans", [&] { plans(comm); });
    cases("started_twice", [&] { started_twice(comm); });
    cases("communicators", [&] { communicators(comm); });
  });
}
