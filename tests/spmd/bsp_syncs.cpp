// SPDX-License-Identifier: Apache-2.0
//
// Tests supersteps in which some processes have other calls in progress and others have none. Both
// kinds may synchronise in different ways, but must still match. Covers empty supersteps, puts to
// others and to itself, reductions, gets, and changing sets of busy processes.
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
  const int p = ctx.nprocs(), me = ctx.pid(), next = (me + 1) % p, before = (me + p - 1) % p;
  std::vector<double> came(3, -1);
  double sum = me + round, got = -1;
  auto there = ctx.registered(came);
  ctx.sync();
  for (int k = 0; k < 3; ++k) {
    const double told = 100 * round + 10 * k;
    ctx.put(told + me, next, there);
    ctx.sync();
    check.equal(came[0], told + before);
    ctx.put(told + me, me, there, 1);
    ctx.sync();
    check.equal(came[1], told + me);
    if (me == k % p) ctx.put(told, next, there, 2);
    ctx.sync();
    check.equal(came[2], me == (k % p + 1) % p ? told : -1.0);
    came[2] = -1;
    ctx.allreduce(sum, std::plus<>{});
    if (k == 1) ctx.put(told, next, there, 2);
    ctx.sync();
    check.equal(came[2], k == 1 ? told : -1.0);
    check.equal(sum, p * (p - 1) / 2.0 + p * round);
    sum = me + round;
    came[2] = -1;
    ctx.get(before, there, 1, got);
    ctx.sync();
    check.equal(got, told + before);
    ctx.sync();
  }
}

/// The `busy` processes wait for a message, which is sent only after the supersteps of the round.
void beside_mail(communicator& world, bsp::context& ctx, const std::function<bool(int)>& busy) {
  const int p = world.size(), me = world.rank(), before = (me + p - 1) % p, next = (me + 1) % p;
  for (int round = 0; round < 10; ++round) {
    supersteps(ctx, round);
    int came = -1;
    if (busy(me)) {
      auto p2p = world.irecv(recv_buf(came), source(before));
      supersteps(ctx, round + 1);
      if (busy(next)) world.send(send_buf(me + round), destination(next));
      p2p.wait();
      check.equal(came, before + round);
    } else {
      supersteps(ctx, round + 1);
      if (busy(next)) world.send(send_buf(me + round), destination(next));
    }
  }
}

/// A collective that some processes begin before the superstep, and the others only after it.
void beside_collectives(communicator& world, bsp::context& ctx, const std::function<bool(int)>& early) {
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
    cases("alone", [&] { beside_mail(world, ctx, nobody); });
    cases("mail/first", [&] { beside_mail(world, ctx, first); });
    cases("mail/odd", [&] { beside_mail(world, ctx, odd); });
    cases("collectives/first", [&] { beside_collectives(world, ctx, first); });
    cases("collectives/odd", [&] { beside_collectives(world, ctx, odd); });
  });
}
