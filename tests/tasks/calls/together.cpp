// SPDX-License-Identifier: Apache-2.0
//
// Tests several runtimes at once, several workers, and statistics.
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

#include "calls/call_tests.hpp"
#include "communicator/internal_calls.hpp"

namespace calls {
namespace {

std::uint64_t total(const std::vector<std::uint64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::uint64_t{0});
}

// Sequence numbers, tags and copies of one runtime do not affect the other, even for the same
// ranks, owners and data.
void two_runtimes(communicator& world, const std::function<communicator()>& make_second) {
  const int p = world.size(), me = world.rank();
  const communicator second = make_second();
  tasks::runtime a(world), b(second);
  const int q = b.size(), there = b.rank();
  int x = me + 1, y = -1;
  std::vector<int> row(400, me + 1);
  // The same data in both runtimes.
  std::vector<tasks::handle<int>> in_a = one_each(a, x), in_b = one_each(b, x);
  std::vector<tasks::handle<std::span<int>>> rows_a, rows_b;
  for (int r = 0; r < p; ++r) rows_a.push_back(r == me ? a.data(row, r) : a.data<std::span<int>>(r, 400));
  for (int r = 0; r < q; ++r) rows_b.push_back(r == there ? b.data(row, r) : b.data<std::span<int>>(r, 400));
  std::atomic<long> sum_a = 0, sum_b = 0;
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < p; ++r)
      a.insert([&](int v, std::span<const int> w) { sum_a += v + w[399]; }, tasks::read(in_a[at(r)]),
               tasks::read(rows_a[at(r)]), tasks::on((r + 1) % p));
    for (int r = 0; r < q; ++r)
      b.insert([&](int v, std::span<const int> w) { sum_b += v + w[399]; }, tasks::read(in_b[at(r)]),
               tasks::read(rows_b[at(r)]), tasks::on((r + 1) % q));
  }
  a.wait_all();
  b.wait_all();
  check.equal(sum_a.load(), 3L * 2 * ((me + p - 1) % p + 1));
  const auto before_in_b = second.rank() == 0 ? q - 1 : there - 1;
  std::vector<int> values(at(q));
  second.allgather(tutti::send_buf(x), tutti::recv_buf(values));
  check.equal(sum_b.load(), 3L * 2 * values[at(before_in_b)]);
  // Each has sent its data once, and does not know the copies of the other.
  check.equal(total(a.statistics().bytes_sent), p > 1 ? 1604u : 0u);
  check.equal(total(b.statistics().bytes_sent), q > 1 ? 1604u : 0u);
  // Written in one runtime, so the copies of the other are flushed.
  for (int r = 0; r < p; ++r) a.insert([](int& v) { v += 10; }, tasks::read_write(in_a[at(r)]));
  a.wait_all();
  b.flush();
  for (int r = 0; r < q; ++r) b.insert([&](int v) { y = v; }, tasks::read(in_b[at(r)]));
  b.wait_all();
  check.equal(y, me + 11);
  a.barrier();
  b.barrier();
}
void over_one_communicator(communicator& world) {
  two_runtimes(world, [&] { return world.duplicate(); });
}
void over_a_part(communicator& world) {
  two_runtimes(world, [&] { return std::move(*world.split(world.rank() % 2, -world.rank())); });
}
// A wait in one runtime progresses the other.
void one_runtime_progresses_the_other(communicator& world) {
  tasks::runtime a(world), b(world);
  const int p = a.size(), me = a.rank();
  int x = me, y = -1;
  const auto all = one_each(a, x);
  const auto hy = b.data(y, me), hx = b.data(x, me);
  for (int r = 0; r < p; ++r)
    if (p > 1)
      a.insert([](int& v, int w) { v += w; }, tasks::read_write(all[at(r)]),
               tasks::read(all[at((r + 1) % p)]));
  if (me == 0) a.wait_all();  // meanwhile the others wait in b and progress a
  auto s = b.isend(hx, (me + 1) % p, 1);
  b.recv(hy, (me + p - 1) % p, 1);
  s.wait();
  a.wait_all();
}
void one_after_another(communicator& world) {
  for (int i = 0; i < 30; ++i) {
    tasks::runtime rt(world);
    const int p = rt.size();
    int x = i;
    const auto h = rt.data(x, i % p);
    int seen = -1;
    rt.insert([&](int v) { seen = v; }, tasks::read(h), tasks::on((i + 1) % p));
    if (i % 2 == 0) rt.wait_all();
    std::optional<tasks::runtime> other;
    if (i % 3 == 0) other.emplace(world);
  }
}
// A runtime over ranks in another order.
void other_order(communicator& world) {
  const communicator turned = std::move(*world.split(0, -world.rank()));
  tasks::runtime rt(turned);
  const int p = rt.size();
  check.equal(rt.rank(), p - 1 - world.rank());
  check.equal(rt.size(), world.size());
  int x = world.rank();
  const auto h = rt.data(x, 0);
  int seen = -1;
  for (int r = 0; r < p; ++r) rt.insert([&](int v) { seen = v; }, tasks::read(h), tasks::on(r));
  rt.wait_all();
  check.equal(seen, p - 1);
}

// Two kernels run at the same time: each waits until the other has started.
void workers_wait_for_one_another(communicator& world) {
  tasks::runtime rt(world, {.workers = 2});
  check.equal(rt.workers(), 2);
  const int me = rt.rank();
  std::atomic<int> here{0};
  bool alone[2] = {true, true};
  for (int i = 0; i < 2; ++i)
    rt.insert([&, i] {
      ++here;
      const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (here.load() < 2 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
      alone[i] = here.load() < 2;
    });
  rt.wait_all();
  check.that(!alone[0] && !alone[1], "two kernels run at once");
  // The same for contributions to one data handle.
  int sum = 0;
  here = 0;
  const auto h = rt.data(sum, me);
  for (int i = 0; i < 2; ++i)
    rt.insert(
        [&](int& v) {
          ++here;
          const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (here.load() < 2 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
          v = here.load();
        },
        tasks::reduce(h, std::plus<>{}));
  rt.wait_all();
  check.equal(sum, 4);
}

// Many small tasks on many workers, with different dependencies.
void workers_in_order(communicator& world) {
  tasks::runtime rt(world, {.workers = 3});
  const int p = rt.size(), me = rt.rank();
  constexpr int n = 20;
  std::vector<unsigned> mine(n, 1);
  std::vector<unsigned> right(at(p) * n, 1);
  std::vector<tasks::handle<unsigned>> all;
  for (int r = 0; r < p; ++r)
    for (int i = 0; i < n; ++i) all.push_back(r == me ? rt.data(mine[at(i)], r) : rt.data<unsigned>(r));
  for (unsigned t = 0; t < 3000; ++t) {
    const std::size_t a = t * 7919u % right.size(), b = (t * 104729u + 3) % right.size();
    if (a == b) continue;
    rt.insert([t](unsigned& x, unsigned y) { x = 31 * x + y + t; }, tasks::read_write(all[a]),
              tasks::read(all[b]));
    right[a] = 31 * right[a] + right[b] + t;
  }
  rt.wait_all();
  for (int i = 0; i < n; ++i) check.equal(mine[at(i)], right[at(me * n + i)]);
}

// The rank's own thread also runs tasks.
void workers_by_default(communicator& world) {
  tasks::runtime rt(world);
  check.that(rt.workers() >= 1);
}

void statistics(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  const auto begin = rt.statistics();
  check.that(begin.tasks_run == 0 && begin.cache_hits == 0 && total(begin.bytes_sent) == 0 &&
             begin.idle_seconds >= 0);
  check.equal(begin.bytes_sent.size(), at(p));
  check.equal(begin.messages_sent.size(), at(p));
  int x = 3;
  const auto h = rt.data(x, 0);
  for (int i = 0; i < 5; ++i) rt.insert([](int) {}, tasks::read(h), tasks::on(last));
  rt.wait_all();
  const auto s = rt.statistics();
  check.equal(s.tasks_run, me == last ? 5u : 0u);
  check.equal(s.bytes_sent[at(last)], me == 0 && p > 1 ? 4u : 0u);
  check.equal(s.messages_sent[at(last)], me == 0 && p > 1 ? 1u : 0u);
  check.equal(world.allreduce_single(tutti::send_buf(s.cache_hits), tutti::op(std::plus<>{})),
              p > 1 ? 4u : 0u);
  // A rank that waits for a sleeping kernel is idle.
  if (p > 1) {
    rt.insert([](int& v) { std::this_thread::sleep_for(std::chrono::milliseconds(50)), ++v; },
              tasks::read_write(h));
    rt.insert([](int) {}, tasks::read(h), tasks::on(last));
    rt.wait_all();
    if (me == last && std::string(tutti::detail::engine_of(tutti::detail::impl_of(world))) == "threads")
      check.that(rt.statistics().idle_seconds >= 0.02);
  }
}

}  // namespace

void add_together(list& all) {
  all.insert(all.end(), {{"over_one_communicator", over_one_communicator},
                         {"over_a_part", over_a_part},
                         {"one_runtime_progresses_the_other", one_runtime_progresses_the_other},
                         {"one_after_another", one_after_another},
                         {"other_order", other_order},
                         {"workers_wait_for_one_another", workers_wait_for_one_another},
                         {"workers_in_order", workers_in_order},
                         {"workers_by_default", workers_by_default},
                         {"statistics", statistics}});
}

}  // namespace calls
