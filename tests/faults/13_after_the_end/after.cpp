// SPDX-License-Identifier: Apache-2.0
//
// after CASE: communicators and requests that outlive their run, or were moved from, and ranks and
// their child processes that call exit().
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "support/check.hpp"
#include "tutti/grid.hpp"
#include "tutti/group.hpp"
#include "tutti/tasks.hpp"
#include "tutti/timer.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

// Objects of a rank that outlive its run.
struct outliving_objects {
  explicit outliving_objects(communicator& given) : world(given), other(given.duplicate()) {}
  communicator world, other;
  std::optional<graph_communicator> graph;
  std::optional<intercommunicator> sides;
  std::vector<int> sent = std::vector<int>(3, 7), received = std::vector<int>(3);
  request begun, waited, posted;
  std::optional<plan<void>> prepared;
  std::optional<message> found;
};

std::mutex lock;
std::deque<outliving_objects> outliving;

void create_objects(communicator& world) {
  outliving_objects* mine = nullptr;
  {
    auto made = outliving_objects(world);
    const std::lock_guard guard(lock);
    mine = &outliving.emplace_back(std::move(made));
  }
  const int me = world.rank();
  mine->graph = world.graph({me}, {me});
  if (world.size() > 1) mine->sides = world.between(1);
  std::vector<int> v(3);
  for (int i = 0; i < 3; ++i) world.allreduce(send_buf(v), op(std::plus<>{}));
  mine->prepared = world.barrier_init();
  world.isend(send_buf(mine->sent), destination(me), tag(1), request(mine->waited));
  world.isend(send_buf(mine->sent), destination(me), tag(2), request(mine->posted));
  mine->found = world.mprobe(tag(2));
  world.irecv(recv_buf(mine->received), source(me), tag(1), request(mine->posted));
  world.ibarrier(request(mine->begun));  // still in progress: the end of the run waits for it
}

template <class Call>
void expect_rejected(Call&& call, const char* why) {
  check.throws<usage_error>(std::forward<Call>(call), {why});
}

void used() {
  run(run_options{}, create_objects);
  check.that(!outliving.empty(), "there are objects");
  constexpr const char* why = "after its run has ended";
  for (outliving_objects& one : outliving) {
    std::vector<int> v(3), w(3);
    check.that(one.world.size() >= 1);
    expect_rejected([&] { one.world.barrier(); }, why);
    expect_rejected([&] { one.world.allreduce(send_buf(v), op(std::plus<>{})); }, why);
    expect_rejected([&] { one.world.allgatherv(send_buf(v)); }, why);
    expect_rejected([&] { auto call = one.world.iallreduce(send_buf(v), op(std::plus<>{})); }, why);
    expect_rejected([&] { auto call = one.world.bcast_init(send_recv_buf(v)); }, why);
    expect_rejected([&] { one.world.send(send_buf(v), destination(0)); }, why);
    expect_rejected([&] { one.world.recv(recv_buf(w), source(0)); }, why);
    expect_rejected([&] { auto call = one.world.irecv(recv_buf(w), source(0)); }, why);
    expect_rejected([&] { one.world.probe(); }, why);
    expect_rejected([&] { one.other.barrier(); }, why);
    expect_rejected([&] { one.other.duplicate(); }, why);
    expect_rejected([&] { one.other.split(0); }, why);
    expect_rejected([&] { one.other.split_to_shared_memory(); }, why);
    expect_rejected([&] { one.other.range(0, 0); }, why);
    expect_rejected([&] { tasks::runtime rt(one.other); }, why);
    expect_rejected([&] { one.graph->neighbor_alltoall(send_buf(std::vector<int>(1))); }, why);
    if (one.sides) expect_rejected([&] { one.sides->barrier(); }, why);
    expect_rejected([&] { one.begun.wait(); }, why);
    expect_rejected([&] { one.begun.test(); }, why);
    expect_rejected([&] { one.waited.wait(); }, why);
    expect_rejected([&] { one.prepared->start(); }, why);
    expect_rejected([&] { one.found->recv(recv_buf(w)); }, why);
    communicator copy = one.world, moved = std::move(copy);
    expect_rejected([&] { moved.barrier(); }, why);
    moved.free();
  }
  outliving.clear();
}

// The error of a moved-from communicator names the operation, the rank and the line of `call`.
template <class Call>
void expect_named(Call&& call, const char* operation, int rank,
                  const std::source_location& at = std::source_location::current()) {
  const std::string text = std::string(operation) + " on rank " + std::to_string(rank) + " at after.cpp:" +
                           std::to_string(at.line()) + ": communicator: was moved from";
  check.throws<usage_error>(std::forward<Call>(call), {text.c_str()}, at);
}

void moved_from(communicator& world) {
  constexpr const char* why = "was moved from";
  std::vector<int> v(3);
  communicator first = world.duplicate();
  for (int i = 0; i < 3; ++i) first.allreduce(send_buf(v), op(std::plus<>{}));
  communicator second = std::move(first);
  const int me = world.rank();
  expect_named([&] { first.allreduce(send_buf(v), op(std::plus<>{})); }, "allreduce", me);
  expect_named([&] { first.barrier(); }, "barrier", me);
  expect_named([&] { auto call = first.ibarrier(); }, "ibarrier", me);
  expect_named([&] { first.send(send_buf(v), destination(0)); }, "send", me);
  expect_named([&] { first.duplicate(); }, "duplicate", me);
  expect_named([&] { grid_communicator all(first); }, "grid_communicator", me);
  communicator part = world.range(me, me), part_now = std::move(part);  // of one rank
  expect_named([&] { part.barrier(); }, "barrier", 0);
  expect_named([&] { first.barrier(); }, "barrier", me);
  expect_rejected([&] { first.translate(0, world); }, why);
  expect_rejected([&] { chain all(first); }, why);
  expect_named([&] { first.split_to_shared_memory(); }, "split_to_shared_memory", me);
  first.free();
  second.barrier();
  first = std::move(second);
  expect_rejected([&] { second.barrier(); }, why);
  first.barrier();
  graph_communicator graph = world.graph({world.rank()}, {world.rank()}), graph_now = std::move(graph);
  expect_rejected([&] { graph.neighbor_alltoall(send_buf(std::vector<int>(1))); }, why);
  graph_now.barrier();
  if (world.size() > 1) {
    intercommunicator sides = world.between(1), sides_now = std::move(sides);
    expect_rejected([&] { sides.barrier(); }, why);
    sides_now.barrier();
  }
  auto begun = world.ibarrier(), begun_now = std::move(begun);
  check.throws<usage_error>([&] { begun.wait(); }, {"holds no call"});
  begun_now.wait();
  request r;
  world.ibarrier(request(r));
  request r_now = std::move(r);
  check.throws<usage_error>([&] { r.test(); }, {"holds no call"});
  r_now.wait();
  auto plan = world.barrier_init(), plan_now = std::move(plan);
  check.throws<usage_error>([&] { plan.start(); }, {"holds no call"});
  plan_now.start();
  plan_now.wait();
  timer t(world), t_now = std::move(t);
  expect_rejected([&] { t.start("x"); }, why);
  expect_rejected([&] { t.stop(); }, why);
  expect_rejected([&] { t.stop_and_append(); }, why);
  expect_rejected([&] { t.count("x"); }, why);
  expect_rejected([&] { t.start_synchronized("x"); }, why);
  expect_rejected([&] { auto s = t.scoped("x"); }, why);
  expect_rejected([&] { t.aggregate(); }, why);
  expect_rejected([&] { t.clear(); }, why);
  t_now.start("x");
  t_now.stop();
}

// Requests of a task runtime that has ended return the results.
void requests_of_ended_runtime(communicator& world) {
  const int me = world.rank();
  tasks::request sent, received, unused;
  int x = me, y = -1;
  {
    tasks::runtime rt(world);
    auto from = rt.data(x, me, tasks::with_tag(2 * me)), to = rt.data(y, me, tasks::with_tag(2 * me + 1));
    sent = rt.isend(from, me, 3);
    received = rt.irecv(to, me, 3);
    unused = rt.isend(from, me, 4);
    rt.recv(to, me, 4);
    rt.wait_all();
  }
  sent.wait();
  check.equal(received.test().has_value(), true);
  check.equal(y, me);
}

// Objects whose communicator was freed. The error names the operation. Each call was made before,
// so it would otherwise repeat the cached call.
void freed(communicator& world) {
  const int me = world.rank();
  graph_communicator graph = world.graph({me}, {me});
  for (int i = 0; i < 3; ++i) graph.neighbor_alltoall(send_buf(std::vector<int>(1)));
  graph.free();
  const auto why = [](const char* operation) { return std::string(operation) + " on rank "; };
  const auto expect = [&](auto&& call, const char* operation) {
    check.throws<usage_error>(call, {why(operation).c_str(), "freed"});
  };
  expect([&] { graph.neighbor_alltoall(send_buf(std::vector<int>(1))); }, "neighbor_alltoall");
  if (world.size() > 1) {
    intercommunicator sides = world.between(1);
    for (int i = 0; i < 3; ++i) sides.barrier();
    sides.free();
    expect([&] { sides.barrier(); }, "barrier");
  }
  communicator other = world.duplicate();
  std::vector<int> v(3);
  for (int i = 0; i < 3; ++i) {
    other.allreduce(send_buf(v), op(std::plus<>{}));
    other.bsend(send_buf(v), destination(me), tag(1));
    other.recv(recv_buf(v), source(me), tag(1));
  }
  auto unused = other.barrier_init(), used = other.barrier_init();
  used.start();
  used.wait();
  other.free();
  expect([&] { other.allreduce(send_buf(v), op(std::plus<>{})); }, "allreduce");
  expect([&] { other.bsend(send_buf(v), destination(me), tag(1)); }, "bsend");
  expect([&] { static_cast<void>(other.iprobe()); }, "iprobe");
  check.throws<usage_error>([&] { unused.start(); }, {"barrier on rank ", "freed", "start before free()"});
  check.throws<usage_error>([&] { used.start(); }, {"barrier on rank ", "freed", "start before free()"});
  world.barrier();
}

// A runtime that outlives its run: calls throw, and its destruction does not crash.
void runtime() {
  std::unique_ptr<tasks::runtime> runtime_after_run;
  run(run_options{},
      [&](communicator& world) { runtime_after_run = std::make_unique<tasks::runtime>(world); });
  check.throws<usage_error>([&] { runtime_after_run->wait_all(); }, {"after its run has ended"});
}

int with(std::string_view name) {
  if (name == "used") return used(), 0;
  if (name == "runtime") return runtime(), 0;
  if (name == "freed") return run(run_options{}, freed), 0;
  if (name == "moved") return run(run_options{}, moved_from), 0;
  if (name == "task_requests") return run(run_options{}, requests_of_ended_runtime), 0;
  return 2;
}

// A child whose exec fails may call exit(), as POSIX programs do. It is no rank.
void forked(communicator& world) {
  world.barrier();
  if (world.rank() == world.size() / 2) {
    std::fflush(nullptr);  // otherwise the child prints buffered output of this process
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      std::exit(127);
    }
    int status = 0;
    const bool waited = child > 0 && waitpid(child, &status, 0) == child;
    if (!waited || !WIFEXITED(status) || WEXITSTATUS(status) != 127)
      throw usage_error("fork", world.rank(), "", "its child ended with " + std::to_string(status), "");
  }
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name.rfind("exit_", 0) == 0 || name == "quick_exit")
    return run(argc, argv, [&](communicator& world) {
      world.barrier();
      if (world.rank() == world.size() / 2) {
        if (name == "quick_exit") std::quick_exit(0);
        std::exit(name.back() - '0');
      }
      world.barrier();
    });
  if (name == "forked") return run(argc, argv, forked);
  try {
    return with(name);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED: %s\n", e.what());
    return 1;
  }
}
