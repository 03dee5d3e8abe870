// SPDX-License-Identifier: Apache-2.0
//
// Tests errors of supersteps in C++ (tutti/bsp.hpp): calls that one process rejects, errors that
// all processes get in their next sync, processes that end early, and exceptions that leave a
// context. None of them affects other contexts.
#include <functional>
#include <span>
#include <string>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/bsp.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

using words = std::initializer_list<const char*>;

void works(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid();
  int came = -1, sum = me;
  auto there = ctx.registered(came);
  ctx.sync();
  ctx.put(me, (me + 1) % p, there);
  ctx.allreduce(sum, std::plus<>{});
  ctx.sync();
  check.equal(came, (me + p - 1) % p);
  check.equal(sum, p * (p - 1) / 2);
}

/// Process `culprit` rejects a call, and its context keeps that state. The other processes learn of
/// it in their next sync, all after the same number of syncs.
void refused(communicator& world, int culprit, const std::function<void(bsp::context&)>& wrong, words said) {
  bsp::context before(world);
  {
    bsp::context ctx(world);
    if (world.rank() == culprit) {
      check.throws<usage_error>([&] { wrong(ctx); }, said);
      check.throws<usage_error>([&] { works(ctx); }, said);
      check.throws<usage_error>([&] { ctx.sync(); }, said);
      check.throws<usage_error>([&] { ctx.sync(); }, said);
    } else {
      const std::string who = "process " + std::to_string(culprit) + " has failed";
      check.throws<peer_error>([&] { ctx.sync(); }, {"sync", who.c_str()});
      check.throws<peer_error>([&] { ctx.sync(); }, {"sync", who.c_str()});
    }
  }
  works(before);
}

void all_refused(communicator& world) {
  const int p = world.size(), culprit = p / 2;
  const std::string of_p = "is " + std::to_string(p) + ", but there are " + std::to_string(p);
  int x = 0;
  std::vector<int> two(2), blocks(static_cast<std::size_t>(p)), more(static_cast<std::size_t>(p) + 1);
  const auto wrong = [&](words said, const std::function<void(bsp::context&)>& what) {
    refused(world, culprit, what, said);
  };
  wrong({"put", "dst_pid", of_p.c_str()}, [&](auto& ctx) { ctx.put(1, p, ctx.registered(x)); });
  wrong({"put", "dst_pid", "is -1"}, [&](auto& ctx) { ctx.put(1, -1, ctx.registered(x)); });
  wrong({"put", "dst_slot", "is empty"}, [&](auto& ctx) { ctx.put(1, 0, bsp::global_slot<int>()); });
  wrong({"get", "src_pid", of_p.c_str()}, [&](auto& ctx) { ctx.get(p, ctx.registered(x), 0, x); });
  wrong({"get", "src_slot", "is empty"}, [&](auto& ctx) { ctx.get(0, bsp::global_slot<int>(), 0, x); });
  wrong({"register_global", "is null"},
        [&](auto& ctx) { (void)ctx.registered(std::span<int>(static_cast<int*>(nullptr), 3)); });
  wrong({"broadcast", "root", of_p.c_str()}, [&](auto& ctx) { ctx.broadcast(x, p); });
  wrong({"gather", "root"}, [&](auto& ctx) { ctx.gather(x, blocks, -1); });
  wrong({"reduce", "root"}, [&](auto& ctx) { ctx.reduce(x, std::plus<>{}, -1); });
  wrong({"combine", "root"}, [&](auto& ctx) { ctx.combine(two, std::plus<>{}, p); });
  wrong({"gather", "dst", "blocks of 1"}, [&](auto& ctx) { ctx.gather(x, more, ctx.pid()); });
  wrong({"scatter", "src", "blocks of 2"},
        [&](auto& ctx) { ctx.scatter(std::span(more).first(1), two, ctx.pid()); });
  wrong({"allgather", "dst", "blocks of 1"}, [&](auto& ctx) { ctx.allgather(x, more); });
  wrong({"alltoall", "dst", "blocks of 1"}, [&](auto& ctx) { ctx.alltoall(blocks, more); });
  wrong({"alltoall", "dst", "is the same as src"}, [&](auto& ctx) { ctx.alltoall(blocks, blocks); });
  wrong({"members", "hi", "of"}, [&](auto& ctx) { (void)ctx.members(0, p + 1); });
  wrong({"members", "stride", "is 0"}, [&](auto& ctx) { (void)ctx.members(0, p, 0); });
  wrong({"members", "lo", "is not among"}, [&](auto& ctx) { (void)ctx.members(ctx.pid() + 1, p); });
  if (p > 1) wrong({"alltoall", "src"}, [&](auto& ctx) { ctx.alltoall(more, more); });
}

/// One of two processes detects the mismatch in the sync. The next sync fails on all processes.
void refused_in_the_sync(communicator& world,
                         const std::function<void(bsp::context&, bsp::global_slot<int>&)>& wrong) {
  bsp::context ctx(world);
  std::vector<int> area(4, -1);
  auto there = ctx.registered(area);
  ctx.sync();
  if (world.rank() == 0) wrong(ctx, there);
  bool found = false;
  try {
    ctx.sync();
  } catch (const usage_error& e) {
    found = true;
    const std::string text = e.what();
    check.that(text.find("sync") != text.npos && text.find("offset") != text.npos &&
                   text.find("by process 0") != text.npos && text.find("16 bytes") != text.npos,
               text);
  }
  check.that(world.allreduce_single(send_buf(found), op(std::logical_or<>{})), "somebody finds it");
  if (found)
    check.throws<usage_error>([&] { ctx.sync(); }, {"offset"});
  else
    check.throws<peer_error>([&] { ctx.sync(); }, {"has failed"});
  check.equal(area, std::vector<int>(4, -1));
}

void too_far(communicator& world) {
  const int last = world.size() - 1;
  std::vector<int> two{1, 2};
  refused_in_the_sync(world, [&](auto& ctx, auto& there) { ctx.put(two, last, there, 3); });
  refused_in_the_sync(world, [&](auto& ctx, auto& there) { ctx.put(two, last, there, ~std::size_t{0}); });
  refused_in_the_sync(world, [&](auto& ctx, auto& there) { ctx.get(last, there, 3, two); });
  refused_in_the_sync(world, [&](auto& ctx, auto& there) { ctx.get(last, there, ~std::size_t{0} / 2, two); });
}

// If a process ends while others sync, their syncs fail.
void ends_early(communicator& world) {
  const int early = world.size() - 1;
  bsp::context other(world);
  {
    bsp::context ctx(world);
    ctx.sync();
    if (world.rank() != early) {
      const std::string who = "process " + std::to_string(early) + " has left";
      check.throws<peer_error>([&] { ctx.sync(); }, {"sync", who.c_str(), "equally often"});
      check.throws<peer_error>([&] { ctx.sync(); }, {"sync", who.c_str()});
    }
  }
  works(other);
}

// If an exception leaves a context, no process waits for another. Memory that others still read
// stays valid.
void left_by_exceptions(communicator& world) {
  for (int i = 0; i < 20; ++i) {
    try {
      bsp::context ctx(world);
      std::vector<int> came(static_cast<std::size_t>(world.size()), -1);
      auto there = ctx.registered(came);
      bsp::subset part = ctx.members(world.rank() % 2, world.size(), 2);
      ctx.sync();
      for (int k = 0; k < world.size(); ++k) ctx.put(i, k, there, static_cast<std::size_t>(world.rank()));
      ctx.sync();
      check.equal(came, std::vector<int>(came.size(), i));
      int sum = 1;
      part.allreduce(sum, std::plus<>{});
      ctx.put(1, 0, there);
      throw std::runtime_error("out");
    } catch (const std::runtime_error& e) {
      check.equal(std::string(e.what()), "out");
    }
  }
  bsp::context ctx(world);
  works(ctx);
}

// Slots and subsets may be destroyed after their context.
void ends_in_any_order(communicator& world) {
  int x = 0;
  bsp::global_slot<int> slot;
  std::vector<bsp::subset> kept;
  {
    bsp::context ctx(world);
    slot = ctx.registered(x);
    kept.push_back(ctx.members(0, world.size()));
    ctx.sync();
  }
  check.equal(slot.size(), 1u);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("refused", [&] { all_refused(world); });
    cases("too_far", [&] { too_far(world); });
    cases("ends_early", [&] {
      if (world.size() > 1) ends_early(world);
    });
    cases("left_by_exceptions", [&] { left_by_exceptions(world); });
    cases("ends_in_any_order", [&] { ends_in_any_order(world); });
  });
}
