// SPDX-License-Identifier: Apache-2.0
//
// Tests supersteps in which some processes have other calls in progress and others have none. Both
// kinds may synchronize in different ways, but must still match. Covers empty supersteps, puts to
// others and to itself, some of them more than a sync summary carries, reductions, gets, and
// changing sets of busy processes.
#include <functional>
#include <optional>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/bsp.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

void supersteps(bsp::context& ctx, int round) {
  const int p = ctx.nprocs(), me = ctx.pid(), next = (me + 1) % p, previous = (me + p - 1) % p;
  std::vector<double> received(3, -1);
  double sum = me + round, got = -1;
  auto slot = ctx.registered(received);
  ctx.sync();
  for (int k = 0; k < 3; ++k) {
    const double value = 100 * round + 10 * k;
    ctx.put(value + me, next, slot);
    ctx.sync();
    check.equal(received[0], value + previous);
    ctx.put(value + me, me, slot, 1);
    ctx.sync();
    check.equal(received[1], value + me);
    if (me == k % p) ctx.put(value, next, slot, 2);
    ctx.sync();
    check.equal(received[2], me == (k % p + 1) % p ? value : -1.0);
    received[2] = -1;
    ctx.allreduce(sum, std::plus<>{});
    if (k == 1) ctx.put(value, next, slot, 2);
    ctx.sync();
    check.equal(received[2], k == 1 ? value : -1.0);
    check.equal(sum, p * (p - 1) / 2.0 + p * round);
    sum = me + round;
    received[2] = -1;
    ctx.get(previous, slot, 1, got);
    ctx.sync();
    check.equal(got, value + previous);
    ctx.sync();
    // Two puts of each process; three of each; two of some, and three of the others.
    for (int more = 0; more < 3; ++more) {
      const auto puts_of = [&](int process) { return more < 2 ? 2 + more : 2 + process % 2; };
      received = {-1, -1, -1};
      for (int i = 0; i < puts_of(me); ++i) ctx.put(value + me + i, (me + 1 + i) % p, slot, i);
      ctx.sync();
      for (int i = 0; i < 3; ++i) {
        const int from = (me + 3 * p - 1 - i) % p;
        check.equal(received[static_cast<std::size_t>(i)], i < puts_of(from) ? value + from + i : -1.0);
      }
    }
    received = {-1, -1, -1};
  }
}

/// The `busy` processes wait for a message, which is sent only after the supersteps of the round.
void concurrent_messages(communicator& world, bsp::context& ctx, const std::function<bool(int)>& busy) {
  const int p = world.size(), me = world.rank(), previous = (me + p - 1) % p, next = (me + 1) % p;
  for (int round = 0; round < 10; ++round) {
    supersteps(ctx, round);
    int received = -1;
    if (busy(me)) {
      auto p2p = world.irecv(recv_buf(received), source(previous));
      supersteps(ctx, round + 1);
      if (busy(next)) world.send(send_buf(me + round), destination(next));
      p2p.wait();
      check.equal(received, previous + round);
    } else {
      supersteps(ctx, round + 1);
      if (busy(next)) world.send(send_buf(me + round), destination(next));
    }
  }
}

/// A collective that some processes begin before the superstep, and the others only after it.
void concurrent_collectives(communicator& world, bsp::context& ctx, const std::function<bool(int)>& early) {
  const int p = world.size(), me = world.rank();
  communicator other = world.duplicate();
  for (int round = 0; round < 10; ++round) {
    std::optional<std::vector<int>> sum;
    if (early(me)) {
      auto pending = other.iallreduce(send_buf(me + round), op(std::plus<>{}));
      supersteps(ctx, round);
      sum = pending.wait();
    } else {
      supersteps(ctx, round);
      sum = other.iallreduce(send_buf(me + round), op(std::plus<>{})).wait();
    }
    check.equal((*sum)[0], p * (p - 1) / 2 + p * round);
    world.barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    bsp::context ctx(world);
    const auto nobody = [](int) { return false; };
    const auto first = [](int r) { return r == 0; };
    const auto odd = [](int r) { return r % 2 == 1; };
    cases("alone", [&] { concurrent_messages(world, ctx, nobody); });
    cases("messages/first", [&] { concurrent_messages(world, ctx, first); });
    cases("messages/odd", [&] { concurrent_messages(world, ctx, odd); });
    cases("collectives/first", [&] { concurrent_collectives(world, ctx, first); });
    cases("collectives/odd", [&] { concurrent_collectives(world, ctx, odd); });
  });
}
