// SPDX-License-Identifier: Apache-2.0
//
// Tests what follows a call that one rank rejects. The ranks that received zeros in place of its
// data throw peer_error in their next call, of any kind and on any communicator. The call does
// nothing and can be repeated. Then all communicators are usable. If all ranks reject the same
// call, no rank throws peer_error. api_after_rejection_elsewhere.cpp tests other groups and front
// ends.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/rejected_bcast.hpp"
#include "tutti/bsp.hpp"
#include "tutti/tasks.hpp"

using namespace tutti;
using namespace tests;

namespace {

void next_call(communicator& world) {
  const int p = world.size(), me = world.rank();
  const communicator other = world.duplicate();
  ints mine(3, me);
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"barrier", [&] { world.barrier(); }},
      {"allreduce", [&] { (void)world.allreduce_single(send_buf(1), op(std::plus<>{})); }},
      {"allgatherv", [&] { (void)world.allgatherv(send_buf(mine)); }},
      {"gatherv", [&] { (void)world.gatherv(send_buf(mine), root(p - 1)); }},
      {"alltoallv", [&] { (void)world.alltoallv(send_buf(ints(at(p))), send_counts(ints(at(p), 1))); }},
      {"ibarrier", [&] { world.ibarrier().wait(); }},
      {"iallreduce", [&] { world.iallreduce(send_buf(mine), op(std::plus<>{})).wait(); }},
      {"allreduce_init",
       [&] {
         auto plan = world.allreduce_init(send_buf(mine), op(std::plus<>{}));
         plan.start();
         plan.wait();
       }},
      {"barrier", [&] { other.barrier(); }},
      {"send", [&] { world.send(send_buf(mine), destination((me + 1) % p)); }},
      {"isend", [&] { world.isend(send_buf(mine), destination((me + 1) % p)).wait(); }},
      {"recv", [&] { (void)world.recv<int>(source((me + 1) % p)); }},
      {"sendrecv",
       [&] { (void)world.sendrecv(send_buf(mine), destination((me + 1) % p), source((me + p - 1) % p)); }},
      {"iprobe", [&] { (void)world.iprobe(); }},
      {"split", [&] { (void)world.split(me % 2); }},
      {"duplicate", [&] { (void)world.duplicate(); }},
  };
  for (const auto& [name, call] : calls) {
    const int q = p / 2;
    const std::string who = "rank " + std::to_string(q) + " rejected";
    reject_bcast(world, q);
    if (me != q) check.throws<peer_error>(call, {name, who.c_str(), "bcast"});
    expect_usable(world);
  }
}

// Calls that are cached on all ranks.
void after_repeated_calls(communicator& world) {
  const int p = world.size(), me = world.rank();
  ints sums(4, -1);
  const ints mine(4, me);
  const auto sum = [&] { world.allreduce(send_buf(mine), recv_buf(sums), op(std::plus<>{})); };
  for (int round = 0; round < 20; ++round) {
    sum();
    check.equal(sums, ints(4, p * (p - 1) / 2));
    const int q = round % p;
    if (me == q)
      check.throws<usage_error>(
          [&] { (void)world.allreduce(send_buf(ints(1, 1)), send_count(4), op(std::plus<>{})); },
          {"allreduce", "send_count"});
    else
      check.equal(world.allreduce(send_buf(ints(4, 1)), send_count(4), op(std::plus<>{})), ints(4, p - 1));
    sums.assign(4, -1);
    if (me != q) {
      check.throws<peer_error>(sum, {"allreduce", "rejected its arguments"});
      check.equal(sums, ints(4, -1));
    }
  }
  sum();
  check.equal(sums, ints(4, p * (p - 1) / 2));
}

// Several ranks reject the same call: the others throw once.
void several_ranks(communicator& world) {
  const int p = world.size(), me = world.rank();
  for (int rejecting = 2; rejecting <= p; ++rejecting) {
    const auto call = [&] {
      (void)world.allgather(send_buf(ints(me < rejecting ? 1 : 2, 1)), send_count(2));
    };
    if (me < rejecting) {
      check.throws<usage_error>(call, {"allgather", "send_count"});
      check.that(!world.iprobe(), "a rank with an error of its own throws no other");
    } else {
      call();
      check.throws<peer_error>([&] { world.barrier(); }, {"rejected its arguments"});
    }
    expect_usable(world);
  }
}

// Only the ranks of the communicator learn of it, on whatever communicator they call next.
void on_parts(communicator& world) {
  const int p = world.size(), me = world.rank();
  const communicator part = *world.split(me % 2);
  const communicator ring = world.graph({(me + p - 1) % p}, {(me + 1) % p});
  if (me % 2 == 0 && part.size() > 1) {
    reject_bcast(part, 0);
    if (part.rank() != 0) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected", "bcast"});
  }
  expect_usable(world);
  expect_usable(part);
  // A gather reaches the root alone.
  const int q = p - 1;
  const auto gather = [&] { (void)world.gather(send_buf(ints(me == 0 ? 1 : 2)), send_count(2), root(q)); };
  if (me == 0)
    check.throws<usage_error>(gather, {"gather", "send_count"});
  else
    gather();
  if (me == q && p > 1) check.throws<peer_error>([&] { ring.barrier(); }, {"rank 0 rejected", "gather"});
  expect_usable(world);
  // The rank that received zeros has freed the communicator.
  communicator gone = world.duplicate();
  reject_bcast(gone, 0);
  gone.free();
  if (me != 0) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected", "bcast"});
  expect_usable(world);
}

// A call that is under way when the rejection arrives. Each way to wait for it throws, and the
// request still holds the call.
void under_way(communicator& world) {
  const int p = world.size(), me = world.rank();
  const std::vector<std::pair<const char*, std::function<void(request&)>>> ways = {
      {"wait", [](request& r) { r.wait(); }},
      {"test", [](request& r) { (void)r.test(); }},
      {"wait_any", [](request& r) { (void)wait_any(std::span(&r, 1)); }},
      {"test_any", [](request& r) { (void)test_any(std::span(&r, 1)); }},
      {"test_all", [](request& r) { (void)test_all(std::span(&r, 1)); }},
  };
  for (const auto& [name, way] : ways) {
    const int q = p / 2;
    const std::string who = "rank " + std::to_string(q) + " rejected";
    ints sum(1, -1), one(1, 1), in(1, -1);
    request sums, receives;
    world.iallreduce(send_buf(one), recv_buf(sum), op(std::plus<>{}), request(sums));
    reject_bcast(world, q);
    if (me != q)
      check.throws<peer_error>([&, &wait = way] { wait(sums); }, {"allreduce", who.c_str(), "bcast"});
    check.that(sums.valid(), std::string(name) + ": the request holds the call");
    sums.wait();
    check.equal(sum, ints{p});
    if (p == 1) continue;
    world.irecv(recv_buf(in), source((me + p - 1) % p), request(receives));
    reject_bcast(world, q);
    if (me != q) check.throws<peer_error>([&, &wait = way] { wait(receives); }, {"recv", who.c_str()});
    check.that(receives.valid(), std::string(name) + ": the request holds the receive");
    world.send(send_buf(me), destination((me + 1) % p));
    receives.wait();
    check.equal(in, ints{(me + p - 1) % p});
    expect_usable(world);
  }
}

// wait_all() waits for all calls before it throws. A plan, a result, and a receive into items with
// gaps stay whole, too.
void other_objects_under_way(communicator& world) {
  const int p = world.size(), me = world.rank(), q = p - 1;
  const ints one(1, 1);
  const auto rejected = [&](const auto& wait) {
    reject_bcast(world, q);
    if (me != q) check.throws<peer_error>(wait, {"rejected its arguments", "bcast"});
  };
  std::vector<ints> sums(3, ints(1, -1));
  std::vector<request> calls(3);
  for (std::size_t i = 0; i < 3; ++i)
    world.iallreduce(send_buf(one), recv_buf(sums[i]), op(std::plus<>{}), request(calls[i]));
  rejected([&] { wait_all(calls); });
  if (me == q) wait_all(calls);
  for (std::size_t i = 0; i < 3; ++i) check.that(!calls[i].valid() && sums[i] == ints{p});

  auto plan = world.allreduce_init(send_buf(one), op(std::plus<>{}));
  plan.start();
  rejected([&] { plan.wait(); });
  check.equal(plan.wait(), ints{p});

  auto result = world.iallreduce(send_buf(one), op(std::plus<>{}));
  rejected([&] { (void)result.wait(); });
  check.equal(result.wait(), ints{p});

  ints spaced(4, -1);
  const ints mine{me, me};
  auto coming = world.irecv(recv_buf(spaced), recv_type(layout::vector(2, sizeof(int), 2 * sizeof(int))),
                            recv_count(1), source((me + p - 1) % p));
  rejected([&] { coming.wait(); });
  auto sent = world.isend(send_buf(mine), destination((me + 1) % p));
  coming.wait();
  sent.wait();
  check.equal(spaced, ints{(me + p - 1) % p, -1, (me + p - 1) % p, -1});
  expect_usable(world);
}

// A rank that waits for the very call receives zeros. The call after that throws.
void waits_of_the_rejected_call(communicator& world) {
  const int me = world.rank();
  for (int round = 0; round < 5; ++round) {
    ints v(me == 0 ? 2 : 3, 4);
    const auto call = [&] { world.ibcast(send_recv_buf(v), send_recv_count(3)).wait(); };
    if (me == 0)
      check.throws<usage_error>(call, {"ibcast", "send_recv_count"});
    else
      call();
    if (me != 0) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected", "ibcast"});
    expect_usable(world);
  }
}

// Each start of a plan is a call: the others throw after each.
void plans(communicator& world) {
  const int me = world.rank(), q = world.size() - 1;
  ints v(me == q ? 2 : 3, 4);
  auto plan = world.bcast_init(send_recv_buf(v), send_recv_count(3), root(q));
  for (int round = 0; round < 3; ++round) {
    if (me == q) {
      plan.start();
      check.throws<usage_error>([&] { plan.wait(); }, {"bcast", "send_recv_count"});
    } else {
      plan.start();
      plan.wait();
      check.throws<peer_error>([&] { plan.start(); }, {"bcast", "rejected its arguments"});
    }
    expect_usable(world);
  }
}

// A call of two steps either throws before the first step or not at all.
void calls_of_two_steps(communicator& world) {
  const int p = world.size(), me = world.rank();
  const ints mine(2, me);
  ints expected;
  for (int r = 0; r < p; ++r) expected.insert(expected.end(), 2, r);
  for (int round = 0; round < 20; ++round) {
    ints v(me == 0 ? 2 : 3, 4);
    const auto gather = [&] { check.equal(world.allgatherv(send_buf(mine)), expected); };
    if (me == 0) {
      check.throws<usage_error>([&] { world.ibcast(send_recv_buf(v), send_recv_count(3)).wait(); },
                                {"ibcast", "send_recv_count"});
      gather();
    } else {
      auto under_way = world.ibcast(send_recv_buf(v), send_recv_count(3));
      bool threw = false;
      try {
        gather();
      } catch (const peer_error&) {
        threw = true;
      }
      if (threw) gather();
      under_way.wait();
      if (!threw) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected"});
    }
    expect_usable(world);
  }
}

// The next call of a rank that received zeros is wrong itself.
void own_error_in_the_next_call(communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto wrong = [&] { (void)world.allgatherv(send_buf(ints(1)), send_count(5)); };
  reject_bcast(world, 0);
  if (me != 0) check.throws<peer_error>(wrong, {"allgatherv", "rank 0 rejected"});
  expect_usable(world);
  // A usage_error of its own in the same call hides the rejection of another rank.
  const auto both = [&] {
    (void)world.allreduce(send_buf(ints(1)), send_count(me < 2 ? 4 : 1), op(std::plus<>{}));
  };
  if (p == 2) {
    check.throws<usage_error>(both, {"allreduce", "send_count"});
    check.that(!world.iprobe());
  }
  expect_usable(world);
}

// Ranks that receive no data receive no rejection.
void zero_counts(communicator& world) {
  const int p = world.size(), me = world.rank();
  ints counts(at(p), 0);
  for (int r = 1; r < p; r += 2) counts[at(r)] = 2;
  const auto scatter = [&] {
    (void)world.scatterv(send_buf(ints(1)), send_counts(counts), recv_count(counts[at(me)]), root(0));
  };
  if (p == 1) return;
  if (me == 0)
    check.throws<usage_error>(scatter, {"scatterv", "send_counts"});
  else
    scatter();
  if (me % 2 == 1)
    check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected"});
  else
    check.that(!world.iprobe());
  expect_usable(world);
}

// Objects that end after the rejection take part in what the others wait for. The call after that
// throws.
void objects_that_end(communicator& world) {
  const int me = world.rank();
  const auto expect_peer_error = [&] {
    if (me != 0) check.throws<peer_error>([&] { world.barrier(); }, {"rank 0 rejected", "bcast"});
    expect_usable(world);
  };
  {
    const communicator gone = world.duplicate();
    reject_bcast(gone, 0);
  }
  expect_peer_error();
  {
    bsp::context all(world);
    reject_bcast(world, 0);
  }
  expect_peer_error();
  {
    tasks::runtime graph(world);
    reject_bcast(world, 0);
  }
  expect_peer_error();
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("next_call", [&] { next_call(world); });
    cases("after_repeated_calls", [&] { after_repeated_calls(world); });
    cases("several_ranks", [&] { several_ranks(world); });
    cases("on_parts", [&] { on_parts(world); });
    cases("under_way", [&] { under_way(world); });
    cases("other_objects_under_way", [&] { other_objects_under_way(world); });
    cases("waits_of_the_rejected_call", [&] { waits_of_the_rejected_call(world); });
    cases("plans", [&] { plans(world); });
    cases("calls_of_two_steps", [&] { calls_of_two_steps(world); });
    cases("own_error_in_the_next_call", [&] { own_error_in_the_next_call(world); });
    cases("zero_counts", [&] { zero_counts(world); });
    cases("objects_that_end", [&] { objects_that_end(world); });
  });
}
