// SPDX-License-Identifier: Apache-2.0
//
// Tests that calls from threads that do not run the rank throw usage_error at once, for every
// call and also for cached calls. The communicator must stay usable.
#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/bsp.hpp"
#include "tutti/sort.hpp"
#include "tutti/tasks.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

// Returns the message that `use` throws.
template <class Use>
std::string message_of(Use&& use) {
  try {
    use();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "nothing";
}

// The same on another thread.
template <class Use>
std::string message_from_thread(Use&& use) {
  return message_of([&] { std::async(std::launch::async, [&] { use(); }).get(); });
}

template <class Use>
void expect_rejected(const char* what, const Use& use) {
  const std::string text = message_from_thread(use);
  check.that(text.find("does not run rank") != std::string::npos, std::string(what) + " throws " + text);
}

// Makes every kind of call after it is cached on the right thread.
void calls(communicator& world) {
  std::vector<int> v(3, world.rank()), w(3), sum(3), all(3 * static_cast<std::size_t>(world.size()));
  const std::vector<int> counts(static_cast<std::size_t>(world.size()), 3);
  const auto reduce = [&] { world.allreduce(send_buf(v), op(std::plus<>{}), recv_buf(sum)); };
  const auto gather = [&] { world.allgatherv(send_buf(v), recv_counts(counts), recv_buf(all)); };
  const auto bcast = [&] { world.bcast(send_recv_buf(w)); };
  for (int i = 0; i < 4; ++i) reduce(), gather(), bcast(), world.barrier();
  expect_rejected("a cached allreduce", reduce);
  expect_rejected("a cached allgatherv", gather);
  expect_rejected("a cached bcast", bcast);
  expect_rejected("barrier", [&] { world.barrier(); });
  expect_rejected("counts that are inferred", [&] { world.allgatherv(send_buf(v)); });
  expect_rejected("wrong arguments", [&] { world.bcast(send_recv_buf(w), root(world.size())); });
  expect_rejected("iallreduce", [&] { world.iallreduce(send_buf(v), op(std::plus<>{})).wait(); });
  expect_rejected("allreduce_init",
                  [&] { auto plan = world.allreduce_init(send_buf(v), op(std::plus<>{})); });
  expect_rejected("duplicate", [&] { world.duplicate(); });
  expect_rejected("split", [&] { world.split(0); });
  expect_rejected("range", [&] { world.range(world.rank(), world.rank()); });
  expect_rejected("between", [&] {
    if (world.size() < 2) throw usage_error("between", 0, "", "does not run rank: is not tried", "");
    world.between(1);
  });
  reduce();
  check.that(sum[0] == world.size() * (world.size() - 1) / 2, "the communicator is as it was");
}

// Two threads at once, each with its own communicator of this rank.
void two_communicators(communicator& world) {
  communicator other = world.duplicate();
  std::vector<int> v(3, 1), sum(3);
  const auto reduce = [&] { world.allreduce(send_buf(v), op(std::plus<>{}), recv_buf(sum)); };
  const auto barrier = [&] { other.barrier(); };
  for (int i = 0; i < 4; ++i) reduce(), barrier();
  std::fill(sum.begin(), sum.end(), 0);
  const auto begin = std::chrono::steady_clock::now();
  auto first = std::async(std::launch::async, [&] { return message_of(reduce); });
  auto second = std::async(std::launch::async, [&] { return message_of(barrier); });
  for (const std::string& text : {first.get(), second.get()})
    check.that(text.find("does not run rank") != std::string::npos, "one of two threads throws " + text);
  check.that(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10), "they throw at once");
  check.that(sum[0] == 0, "the rejected call has no result");
  reduce(), barrier();
  check.that(sum[0] == world.size(), "both communicators are as they were");
}

void point_to_point(communicator& world) {
  const int me = world.rank();
  std::vector<int> v(3);
  expect_rejected("send", [&] { world.send(send_buf(v), destination(me)); });
  expect_rejected("isend", [&] { world.isend(send_buf(v), destination(me)).wait(); });
  expect_rejected("recv", [&] { world.recv(recv_buf(v), source(me)); });
  expect_rejected("irecv", [&] { world.irecv(recv_buf(v), source(me)).wait(); });
  expect_rejected("probe", [&] { world.probe(source(me)); });
  expect_rejected("improbe", [&] { world.improbe(source(me)); });
  auto sent = world.isend(send_buf(v), destination(me));
  expect_rejected("the wait of a request", [&] { sent.wait(); });
  expect_rejected("the test of a request", [&] { sent.test(); });
  world.recv(recv_buf(v), source(me));
  sent.wait();
}

void requests(communicator& world) {
  auto call = world.ibarrier();
  expect_rejected("wait", [&] { call.wait(); });
  expect_rejected("test", [&] { call.test(); });
  call.wait();
  auto plan = world.barrier_init();
  expect_rejected("start", [&] { plan.start(); });
  plan.start();
  expect_rejected("wait of a plan", [&] { plan.wait(); });
  plan.wait();
}

// A rejected wait leaves the requests as they are.
void ranges_of_requests(communicator& world) {
  std::vector<request> all(2);
  for (request& one : all) world.ibarrier(request(one));
  expect_rejected("wait_all", [&] { wait_all(all); });
  expect_rejected("wait_any", [&] { wait_any(all); });
  expect_rejected("test_all", [&] { test_all(all); });
  expect_rejected("test_any", [&] { test_any(all); });
  for (const request& one : all) check.that(one.valid(), "a rejected wait has released its request");
  wait_all(all);
  for (const request& one : all) check.that(!one.valid(), "the request is released at its end");
}

// Data that are unpacked at the end of a call: a rejected wait must leave that to the next one.
void waits_for_gaps(communicator& world) {
  const int me = world.rank();
  const auto spaced = layout::vector(2, sizeof(int), 2 * sizeof(int));
  std::vector<int> received(3, -1);
  const std::vector<int> sent = {5, 6};
  std::vector<request> all(1);
  world.irecv(recv_buf(received), recv_type(spaced), source(me), request(all[0]));
  expect_rejected("wait_all with a layout", [&] { wait_all(all); });
  expect_rejected("test_all with a layout", [&] { test_all(all); });
  world.send(send_buf(sent), destination(me));
  wait_all(all);
  check.equal(received, std::vector<int>{5, -1, 6});
}

// A call with wrong arguments serves the other ranks. Only its own rank may complete it.
void waits_for_rejected_calls(communicator& world) {
  const auto p = static_cast<std::size_t>(world.size());
  const bool rejects = world.is_root();
  const std::vector<int> counts(rejects ? p - 1 : p, 1);  // the root lacks one
  std::vector<int> received(p);
  std::vector<request> all(1);
  const int me = world.rank();
  world.igatherv(send_buf(me), recv_buf(received), recv_counts(counts), root(0), request(all[0]));
  if (!rejects) {
    wait_all(all);
    return;
  }
  check.that(all[0].valid(), "the request of a rejected call stores its error");
  expect_rejected("wait_all of a rejected call", [&] { wait_all(all); });
  const std::string text = message_of([&] { wait_all(all); });
  check.that(text.find("recv_counts") != std::string::npos, "the rank's own wait throws " + text);
}

// A foreign thread that is in a call of several steps does not give the rank's reports its name.
void scopes_of_foreign_threads(communicator& world) {
  std::promise<void> sorting, reported;
  std::vector<int> v = {2, 1};
  auto less = [&, first = true](int a, int b) mutable {
    if (std::exchange(first, false)) sorting.set_value(), reported.get_future().wait();
    return a < b;
  };
  auto foreign = std::async(std::launch::async,
                            [&] { return message_of([&] { sort_globally(world, v, std::ref(less)); }); });
  sorting.get_future().wait();
  const std::string text = message_of([&] { world.bcast(send_recv_buf(v), root(world.size())); });
  check.that(text.find("bcast on rank") != std::string::npos, "the rank's own call reports " + text);
  reported.set_value();
  const std::string other = foreign.get();
  const bool rejected = other.find("does not run rank") != std::string::npos;
  check.that(world.size() == 1 || rejected, "the foreign thread throws " + other);
}

// Objects destroyed on another thread: destruction is no call, so it is no error.
void destroyed_on_thread(communicator& world) {
  for (int i = 0; i < 3; ++i) {
    std::optional<communicator> other = world.duplicate();
    other->barrier();
    auto call = other->ibarrier();
    while (!call.test()) {
    }
    std::async(std::launch::async, [&] { communicator last = std::move(*other); }).get();
    other.reset();
  }
  auto sent = world.isend(send_buf(world.rank()), destination(world.rank()));
  int x = -1;
  world.recv(recv_buf(x));
  std::async(std::launch::async, [done = std::move(sent)] {}).get();
  world.barrier();
}

// For ranks of one process: where each finds the others' communicators.
struct communicators_of_ranks {
  std::mutex lock;
  std::map<int, communicator*> all;
};
communicators_of_ranks& shared() {
  static communicators_of_ranks one;
  return one;
}

void of_another_rank(communicator& world) {
  // Skips engines whose ranks are processes.
  if (!detail::shares_memory(detail::impl_of(world)) || world.size() < 2) return;
  {
    const std::lock_guard guard(shared().lock);
    shared().all[world.rank()] = &world;
  }
  world.barrier();
  communicator& other = *shared().all[(world.rank() + 1) % world.size()];
  std::string text = "nothing";
  try {
    other.barrier();
  } catch (const usage_error& e) {
    text = e.what();
  }
  check.that(text.find("belongs to rank") != std::string::npos, "another rank's communicator: " + text);
  world.barrier();
}

// In a job within the job, by the rank of the same number.
void of_another_run(communicator& world) {
  if (!detail::shares_memory(detail::impl_of(world))) return;
  std::string text = "nothing";
  run_options how;
  how.engine = "threads";
  how.ranks = world.rank() + 1;
  run(how, [&](communicator& inner) {
    if (inner.rank() == world.rank()) text = message_of([&] { world.barrier(); });
  });
  check.that(text.find("is used by a rank of another run()") != std::string::npos,
             "another run's communicator: " + text);
}

// Kernels, on any thread.
void kernels(communicator& world) {
  for (const int workers : {1, 2}) {
    tasks::options how;
    how.workers = workers;
    tasks::runtime rt(world, how);
    std::mutex lock;
    std::vector<std::string> message;
    auto mine = rt.data<int>(world.rank());
    for (int i = 0; i < 8; ++i)
      rt.insert(
          [&](int&) {
            std::string text = "nothing";
            try {
              world.barrier();
            } catch (const usage_error& e) {
              text = e.what();
            }
            const std::lock_guard guard(lock);
            message.push_back(text);
          },
          tasks::read_write(mine));
    rt.wait_all();
    check.that(message.size() == 8, "all kernels have run");
    for (const std::string& text : message)
      check.that(text.find("in a kernel of a task") != std::string::npos, "a kernel's barrier: " + text);
  }
}

void supersteps(communicator& world) {
  bsp::context ctx(world);
  ctx.sync();
  expect_rejected("sync", [&] { ctx.sync(); });
  ctx.sync();
}

// The calls that only schedule. What they schedule before and after must arrive.
void scheduled_supersteps(communicator& world) {
  bsp::context ctx(world);
  const int p = ctx.nprocs(), me = ctx.pid(), next = (me + 1) % p, none = -1;
  std::vector<int> received(2, -1), got(1, -1), all(static_cast<std::size_t>(p), -1), other(2);
  int sum = 1, sent = me;
  bsp::global_slot<int> area = ctx.registered(received);
  ctx.sync();
  ctx.put(10 + me, next, area);
  expect_rejected("put of a value", [&] { ctx.put(none, next, area); });
  expect_rejected("put of a container", [&] { ctx.put(other, next, area); });
  expect_rejected("get", [&] { ctx.get(next, area, 0, got); });
  expect_rejected("registered", [&] { (void)ctx.registered(other); });
  expect_rejected("registered_locally", [&] { (void)ctx.registered_locally(other); });
  expect_rejected("members", [&] { (void)ctx.members(0, p); });
  expect_rejected("broadcast", [&] { ctx.broadcast(other); });
  expect_rejected("gather", [&] { ctx.gather(none, all); });
  expect_rejected("scatter", [&] { ctx.scatter(all, other); });
  expect_rejected("allgather", [&] { ctx.allgather(none, all); });
  expect_rejected("alltoall", [&] { ctx.alltoall(all, all); });
  expect_rejected("reduce", [&] { ctx.reduce(other[0], std::plus<>{}); });
  const auto held = [none](int a, int) { return a + none; };
  expect_rejected("allreduce", [&] { ctx.allreduce(other[0], held); });
  expect_rejected("combine", [&] { ctx.combine(other, std::plus<>{}); });
  expect_rejected("allcombine", [&] { ctx.allcombine(other, std::plus<>{}); });
  expect_rejected("sync", [&] { ctx.sync(); });
  ctx.put(sent, next, area, 1);
  ctx.allreduce(sum, std::plus<>{});
  ctx.allgather(me, all);
  ctx.sync();
  const int before = (me + p - 1) % p;
  check.that(received == std::vector<int>{10 + before, before}, "both puts arrive");
  check.that(sum == p && all.back() == p - 1 && got[0] == -1, "only the rank's own calls have results");
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("calls", [&] { calls(world); });
    cases("ranges_of_requests", [&] { ranges_of_requests(world); });
    cases("waits_for_gaps", [&] { waits_for_gaps(world); });
    cases("waits_for_rejected_calls", [&] { waits_for_rejected_calls(world); });
    cases("scopes_of_foreign_threads", [&] { scopes_of_foreign_threads(world); });
    cases("of_another_run", [&] { of_another_run(world); });
    cases("two_communicators", [&] { two_communicators(world); });
    cases("point_to_point", [&] { point_to_point(world); });
    cases("requests", [&] { requests(world); });
    cases("destroyed_on_thread", [&] { destroyed_on_thread(world); });
    cases("of_another_rank", [&] { of_another_rank(world); });
    cases("kernels", [&] { kernels(world); });
    cases("supersteps", [&] { supersteps(world); });
    cases("scheduled_supersteps", [&] { scheduled_supersteps(world); });
  });
}
