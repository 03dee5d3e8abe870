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

void check_usable(bsp::context& ctx) {
  const int p = ctx.nprocs(), me = ctx.pid();
  int received = -1, sum = me;
  auto slot = ctx.registered(received);
  ctx.sync();
  ctx.put(me, (me + 1) % p, slot);
  ctx.allreduce(sum, std::plus<>{});
  ctx.sync();
  check.equal(received, (me + p - 1) % p);
  check.equal(sum, p * (p - 1) / 2);
}

/// Process `culprit` rejects a call, and its context stays failed. The next sync of the other
/// processes fails, on all after the same number of syncs.
void check_rejected(communicator& world, int culprit, const std::function<void(bsp::context&)>& bad_call,
                    words expected) {
  bsp::context other(world);
  {
    bsp::context ctx(world);
    if (world.rank() == culprit) {
      check.throws<usage_error>([&] { bad_call(ctx); }, expected);
      check.throws<usage_error>([&] { check_usable(ctx); }, expected);
      check.throws<usage_error>([&] { ctx.sync(); }, expected);
      check.throws<usage_error>([&] { ctx.sync(); }, expected);
    } else {
      const std::string who = "process " + std::to_string(culprit) + " has failed";
      check.throws<peer_error>([&] { ctx.sync(); }, {"sync", who.c_str()});
      check.throws<peer_error>([&] { ctx.sync(); }, {"sync", who.c_str()});
    }
  }
  check_usable(other);
}

void rejected_calls(communicator& world) {
  const int p = world.size(), culprit = p / 2;
  const std::string of_p = "is " + std::to_string(p) + ", but there are " + std::to_string(p);
  int x = 0;
  std::vector<int> two(2), blocks(static_cast<std::size_t>(p)), more(static_cast<std::size_t>(p) + 1);
  const auto bad_call = [&](words expected, const std::function<void(bsp::context&)>& what) {
    check_rejected(world, culprit, what, expected);
  };
  bad_call({"put", "dst_pid", of_p.c_str()}, [&](auto& ctx) { ctx.put(1, p, ctx.registered(x)); });
  bad_call({"put", "dst_pid", "is -1"}, [&](auto& ctx) { ctx.put(1, -1, ctx.registered(x)); });
  bad_call({"put", "dst_slot", "is empty"}, [&](auto& ctx) { ctx.put(1, 0, bsp::global_slot<int>()); });
  bad_call({"get", "src_pid", of_p.c_str()}, [&](auto& ctx) { ctx.get(p, ctx.registered(x), 0, x); });
  bad_call({"get", "src_slot", "is empty"}, [&](auto& ctx) { ctx.get(0, bsp::global_slot<int>(), 0, x); });
  bad_call({"register_global", "is null"},
           [&](auto& ctx) { (void)ctx.registered(std::span<int>(static_cast<int*>(nullptr), 3)); });
  bad_call({"broadcast", "root", of_p.c_str()}, [&](auto& ctx) { ctx.broadcast(x, p); });
  bad_call({"gather", "root"}, [&](auto& ctx) { ctx.gather(x, blocks, -1); });
  bad_call({"reduce", "root"}, [&](auto& ctx) { ctx.reduce(x, std::plus<>{}, -1); });
  bad_call({"combine", "root"}, [&](auto& ctx) { ctx.combine(two, std::plus<>{}, p); });
  bad_call({"gather", "dst", "blocks of 1"}, [&](auto& ctx) { ctx.gather(x, more, ctx.pid()); });
  bad_call({"scatter", "src", "blocks of 2"},
           [&](auto& ctx) { ctx.scatter(std::span(more).first(1), two, ctx.pid()); });
  bad_call({"allgather", "dst", "blocks of 1"}, [&](auto& ctx) { ctx.allgather(x, more); });
  bad_call({"alltoall", "dst", "blocks of 1"}, [&](auto& ctx) { ctx.alltoall(blocks, more); });
  bad_call({"alltoall", "dst", "is the same as src"}, [&](auto& ctx) { ctx.alltoall(blocks, blocks); });
  bad_call({"members", "hi", "of"}, [&](auto& ctx) { (void)ctx.members(0, p + 1); });
  bad_call({"members", "stride", "is 0"}, [&](auto& ctx) { (void)ctx.members(0, p, 0); });
  bad_call({"members", "lo", "is not among"}, [&](auto& ctx) { (void)ctx.members(ctx.pid() + 1, p); });
  if (p > 1) bad_call({"alltoall", "src"}, [&](auto& ctx) { ctx.alltoall(more, more); });
}

/// One of two processes detects the mismatch in the sync. The next sync fails on all processes.
void rejected_by_sync(communicator& world,
                      const std::function<void(bsp::context&, bsp::global_slot<int>&)>& bad_call) {
  bsp::context ctx(world);
  std::vector<int> area(4, -1);
  auto slot = ctx.registered(area);
  ctx.sync();
  if (world.rank() == 0) bad_call(ctx, slot);
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

void out_of_range(communicator& world) {
  const int last = world.size() - 1;
  std::vector<int> two{1, 2};
  rejected_by_sync(world, [&](auto& ctx, auto& slot) { ctx.put(two, last, slot, 3); });
  rejected_by_sync(world, [&](auto& ctx, auto& slot) { ctx.put(two, last, slot, ~std::size_t{0}); });
  rejected_by_sync(world, [&](auto& ctx, auto& slot) { ctx.get(last, slot, 3, two); });
  rejected_by_sync(world, [&](auto& ctx, auto& slot) { ctx.get(last, slot, ~std::size_t{0} / 2, two); });
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
  check_usable(other);
}

// If an exception leaves a context, no process waits for another. Memory that others still read
// remains valid.
void unwound_by_exceptions(communicator& world) {
  for (int i = 0; i < 20; ++i) {
    try {
      bsp::context ctx(world);
      std::vector<int> received(static_cast<std::size_t>(world.size()), -1);
      auto slot = ctx.registered(received);
      bsp::subset part = ctx.members(world.rank() % 2, world.size(), 2);
      ctx.sync();
      for (int k = 0; k < world.size(); ++k) ctx.put(i, k, slot, static_cast<std::size_t>(world.rank()));
      ctx.sync();
      check.equal(received, std::vector<int>(received.size(), i));
      int sum = 1;
      part.allreduce(sum, std::plus<>{});
      ctx.put(1, 0, slot);
      throw std::runtime_error("out");
    } catch (const std::runtime_error& e) {
      check.equal(std::string(e.what()), "out");
    }
  }
  bsp::context ctx(world);
  check_usable(ctx);
}

// Slots and subsets may be destroyed after their context.
void ends_in_any_order(communicator& world) {
  int x = 0;
  bsp::global_slot<int> slot;
  std::vector<bsp::subset> subsets;
  {
    bsp::context ctx(world);
    slot = ctx.registered(x);
    subsets.push_back(ctx.members(0, world.size()));
    ctx.sync();
  }
  check.equal(slot.size(), 1u);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("rejected_calls", [&] { rejected_calls(world); });
    cases("out_of_range", [&] { out_of_range(world); });
    cases("ends_early", [&] {
      if (world.size() > 1) ends_early(world);
    });
    cases("unwound_by_exceptions", [&] { unwound_by_exceptions(world); });
    cases("ends_in_any_order", [&] { ends_in_any_order(world); });
  });
}
