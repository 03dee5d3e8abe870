// SPDX-License-Identifier: Apache-2.0
//
// Tests repeated calls without counts. A call equals the last one or differs in one property only,
// for each property. Others must be rejected after a right call.
#include <numeric>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using longs = std::vector<long>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }
long sum_of(int p, int add) {
  long all = 0;
  for (int r = 0; r < p; ++r) all += r + add;
  return all;
}
long maximum(int p, int add) { return p - 1 + add; }

// Buffers, counts and operators change one after the other, and also back.
void test_reductions(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int step = 0; step < 60; ++step) {
    const std::size_t n = step % 7 == 3 ? 5 : step % 5 == 4 ? 900 : 1;
    longs in(n, me + step), out(n + (step % 3 == 0 ? 1 : 0), -1);
    world.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{}), send_count(n));
    check.equal(out, [&] {
      longs wanted(out.size(), -1);
      std::fill_n(wanted.begin(), n, sum_of(p, step));
      return wanted;
    }());
    // Two user operators, of which the library knows nothing.
    const auto first = [](long a, long b) { return a > b ? a : b; };
    const auto second = [](long a, long b) { return a + b; };
    longs one(n), two(n);
    world.allreduce(send_buf(in), recv_buf(one), op(first, ops::commutative));
    world.allreduce(send_buf(in), recv_buf(two), op(second, ops::commutative));
    check.equal(one, longs(n, maximum(p, step)));
    check.equal(two, longs(n, sum_of(p, step)));
    // An operator whose state changes.
    longs three(n);
    const long plus = step;
    world.allreduce(send_buf(in), recv_buf(three),
                    op([plus](long a, long b) { return a + b + plus - plus; }, ops::commutative));
    check.equal(three, longs(n, sum_of(p, step)));
    longs both = in;
    world.allreduce(send_recv_buf(both), op(std::plus<>{}));
    check.equal(both, longs(n, sum_of(p, step)));
    check.equal(world.allreduce_single(send_buf(1 + step), op(std::plus<>{})), p * (1 + step));
    longs scanned(n);
    world.scan(send_buf(in), recv_buf(scanned), op(std::plus<>{}));
    check.equal(scanned, longs(n, sum_of(me + 1, step)));
  }
}

void test_broadcasts(const communicator& world) {
  const int p = world.size(), me = world.rank();
  struct triple {
    int a, b, c;
    bool operator==(const triple&) const = default;
  };
  for (int step = 0; step < 60; ++step) {
    const int from = step / 3 % p;
    const std::size_t n = step % 4 == 3 ? 3 : 2;
    longs data(4, me == from ? step : -1);
    world.bcast(send_recv_buf(data), send_recv_count(n), root(from));
    longs wanted(4, me == from ? step : -1);
    std::fill_n(wanted.begin(), n, step);
    check.equal(data, wanted);
    std::vector<triple> items(4, me == 0 ? triple{step, 1, 2} : triple{});
    world.bcast(send_recv_buf(items), send_recv_count(4));
    check.that(items == std::vector<triple>(4, {step, 1, 2}));
    int one = me == from ? step : -1;
    world.bcast_single(send_recv_buf(one), root(from));
    check.equal(one, step);
    longs mine(n, me + step), all(n * at(p));
    world.allgather(send_buf(mine), recv_buf(all));
    for (int r = 0; r < p; ++r) check.equal(all[at(r) * n + n - 1], long{r + step});
    longs grown;
    world.allgather(send_buf(mine), recv_buf<resize_to_fit>(grown));
    check.equal(grown, all);
  }
}

// All ranks make the same mistake after right calls.
void usage_errors(const communicator& world) {
  const int p = world.size();
  longs in(3, 1), out(3);
  const auto reduce = [&] { world.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{})); };
  const auto right = [&] {
    reduce();
    check.equal(out, longs(3, p));
  };
  right();
  right();
  out.resize(2);
  check.throws<usage_error>(reduce, {"allreduce", "recv_buf"});
  out.resize(3);
  right();
  check.throws<usage_error>([&] { world.allreduce(send_buf(in), recv_buf(in), op(std::plus<>{})); },
                            {"allreduce"});
  right();
  long long n = 3;
  int from = 0;
  const auto broadcast = [&] { world.bcast(send_recv_buf(in), send_recv_count(n), root(from)); };
  broadcast();
  for (const long long wrong : {-1LL, 4LL}) {
    n = wrong;
    check.throws<usage_error>(broadcast, {"bcast", "send_recv_"});
    n = 3;
    broadcast();
  }
  from = p;
  check.throws<usage_error>(broadcast, {"bcast", "root"});
  from = 0;
  broadcast();
  communicator copy = world.duplicate();
  const auto on_copy = [&] { copy.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{})); };
  on_copy();
  on_copy();
  copy.free();
  check.throws<usage_error>(on_copy, {"allreduce", "freed"});
}

// A call progresses operations in progress. The short path before the first such operation is not
// valid after it.
void beside_nonblocking(const communicator& world) {
  const int p = world.size(), me = world.rank();
  communicator fresh = world.duplicate();
  longs in(2, me), out(2);
  for (int i = 0; i < 10; ++i) {
    fresh.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{}));
    check.equal(out, longs(2, sum_of(p, 0)));
    if (i < 3) continue;
    auto under_way = fresh.iallreduce(send_buf(longs(2, me + i)), op(std::plus<>{}));
    fresh.allreduce(send_buf(in), recv_buf(out), op(std::plus<>{}));
    check.equal(out, longs(2, sum_of(p, 0)));
    check.equal(under_way.wait(), longs(2, sum_of(p, i)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("reductions", [&] { test_reductions(world); });
    cases("broadcasts", [&] { test_broadcasts(world); });
    cases("usage_errors", [&] { usage_errors(world); });
    cases("beside_nonblocking", [&] { beside_nonblocking(world); });
  });
}
