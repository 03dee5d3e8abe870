// SPDX-License-Identifier: Apache-2.0
//
// Tests the program's own uses of data, and the calls that move data to other ranks: acquire,
// fetch, scatter, gather, the cache and flushes.
#include <algorithm>
#include <atomic>
#include <type_traits>

#include "calls/call_tests.hpp"

namespace calls {
namespace {

namespace access = tasks::access;

void views(communicator& world) {
  tasks::runtime rt(world);
  struct pair {
    int a, b;
  };
  pair x{1, 2};
  std::vector<float> v(10, 1);
  const auto hx = rt.data(x, rt.rank());
  const auto hv = rt.data(v, rt.rank());
  {
    auto w = rt.acquire(hx, access::read_write);
    static_assert(std::is_same_v<decltype(*w), pair&> && std::is_same_v<decltype(w.get()), pair&>);
    check.that(&*w == &x && w->a == 1 && w.get().b == 2);
    w->a = 5;
    auto moved = std::move(w);
    moved->b = 6;
  }
  {
    const auto r = rt.acquire(hx, access::read);
    static_assert(std::is_same_v<decltype(*r), const pair&>);
    check.that(r->a == 5 && (*r).b == 6);
    const auto more = rt.acquire(hx, access::read);  // several reads at the same time
    check.equal(more->a, 5);
  }
  {
    auto w = rt.acquire(hv, access::write);
    static_assert(std::is_same_v<decltype(*w), std::span<float>>);
    for (float& y : *w) y = 3;
    w.release();
    w.release();  // it is released already
    const auto r = rt.acquire(hv, access::read);
    static_assert(std::is_same_v<decltype(r.get()), std::span<const float>>);
    check.that(r.get().size() == 10 && r.get()[9] == 3);
  }
  rt.wait_all();
}

// acquire() waits for earlier tasks, and later tasks wait for the view.
void in_their_place(communicator& world) {
  tasks::runtime rt(world);
  const int me = rt.rank();
  int x = 1, beside = 0;
  const auto h = rt.data(x, me), other = rt.data(beside, me);
  for (int round = 0; round < 10; ++round) {
    int read = 0;
    rt.insert([](int& v) { v *= 2; }, tasks::read_write(h));
    auto w = rt.acquire(h, access::read_write);
    check.equal(*w, 2 * (7 * round + 1));
    rt.insert([](int& v) { v = -v; }, tasks::read_write(h));
    rt.insert([&](const int& v) { read = v; }, tasks::read(h));
    rt.insert([](int& v) { ++v; }, tasks::read_write(other));
    check.equal(*rt.acquire(other, access::read), round + 1);  // independent tasks continue
    check.equal(*w, 2 * (7 * round + 1));
    *w = 7 * (round + 1) + 1;
    w.release();
    rt.wait_all();
    check.equal(read, -(7 * (round + 1) + 1));
    x = -x;
  }
}

// A view for reading allows other reads, and delays writes.
void reads_go_on(communicator& world) {
  tasks::runtime rt(world);
  const int me = rt.rank();
  std::vector<int> v(3, 1);
  int seen = 0, marked = 0;
  const auto h = rt.data(v, me);
  const auto hm = rt.data(marked, me);
  auto r = rt.acquire(h, access::read);
  rt.insert([&](std::span<const int> w, int& m) { seen = w[0], m = 1; }, tasks::read(h), tasks::write(hm));
  rt.insert([](std::span<int> w) { w[0] = 2; }, tasks::read_write(h));
  check.equal(*rt.acquire(hm, access::read), 1);
  check.that(seen == 1 && r.get()[0] == 1 && v[0] == 1);
  r.release();
  rt.wait_all();
  check.equal(v[0], 2);
}

void fetched(communicator& world) {
  for (const bool cache : {true, false}) {
    tasks::runtime rt(world, {.cache = cache});
    const int p = rt.size(), me = rt.rank();
    std::vector<double> v(500, me == 0 ? 1 : -1);
    const auto h = me % 2 == 0 ? rt.data(v, 0) : rt.data<std::span<double>>(0, 500);
    for (int round = 1; round <= 3; ++round) {
      rt.insert(
          [](std::span<double> x) {
            for (double& y : x) y *= 2;
          },
          tasks::read_write(h));
      for (int r = 0; r < p; ++r) rt.fetch(h, r);
      const auto copy = rt.acquire(h, access::read);
      check.equal(copy.get()[499], 1 << round);
    }
    for (int r = 1; r < p; ++r)  // only the owner and the target call it
      if (me == 0 || me == r) rt.fetch(h, r);
    if (p > 1) rt.fetch(tasks::handle<int>(), (me + 1) % p);  // does not concern this rank
    rt.wait_all();
  }
}

// The owner changes the data itself; flush() then invalidates the copies.
void changed_by_the_program(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int x = 10;
  const auto h = me == 0 ? rt.data(x, 0) : rt.data<int>(0);
  std::atomic<int> sum = 0;
  for (int round = 0; round < 4; ++round) {
    for (int r = 0; r < p; ++r) rt.insert([&](int v) { sum += v; }, tasks::read(h), tasks::on(r));
    if (me == 0) *rt.acquire(h, access::read_write) += 5;
    rt.flush(h);
  }
  rt.wait_all();
  if (me == 0) {
    check.equal(x, 30);
    x = 100;  // no operation is in progress
  }
  rt.flush();
  for (int r = 0; r < p; ++r) rt.insert([&](int v) { sum += v; }, tasks::read(h), tasks::on(r));
  rt.wait_all();
  check.equal(sum.load(), 10 + 15 + 20 + 25 + 100);
}

// One rank has read all input, as in the original program. Blocks are scattered to their owners,
// processed, and gathered.
void scatter_compute_gather(communicator& world) {
  const int p = world.size(), me = world.rank();
  for (const std::size_t n : {1u, 300u, 10000u})
    for (const int root : {0, p - 1})
      for (const bool empties : {false, true}) {
        tasks::runtime rt(world);
        const int blocks = 3 * p + 1;
        const auto owner = [&](int b) { return (b + b / p) % p; };
        std::vector<float> vector(me == root ? at(blocks) * n : 0);
        for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<float>(i % 5000);
        std::vector<tasks::handle<std::span<float>>> h(at(blocks));
        for (int b = 0; b < blocks; ++b)
          if (me == root)
            h[at(b)] = rt.data(std::span(vector).subspan(at(b) * n, n), owner(b), tasks::with_tag(b));
          else if (!empties || owner(b) == me)
            h[at(b)] = rt.data<std::span<float>>(owner(b), n, tasks::with_tag(b));
        for (int round = 1; round <= 2; ++round) {
          rt.scatter(h, root);
          for (int b = 0; b < blocks; ++b)
            if (h[at(b)] && rt.rank(h[at(b)]) == me)
              rt.insert(
                  [](std::span<float> v) {
                    for (float& y : v) y += 1;
                  },
                  tasks::read_write(h[at(b)]));
          rt.gather(h, root);
          rt.wait_all();
          if (me == root)
            for (int b = 0; b < blocks; ++b) {
              const auto block = rt.acquire(h[at(b)], access::read);
              for (std::size_t i = 0; i < n; ++i)
                check.equal(block.get()[i], static_cast<float>((at(b) * n + i) % 5000 + at(round)));
            }
        }
        if (me == root)  // they are in the program's memory
          for (std::size_t i = 0; i < vector.size(); ++i)
            check.equal(vector[i], static_cast<float>(i % 5000 + 2));
      }
}

void gathered_to_all(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int mine = me;
  const auto all = one_each(rt, mine);
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < p; ++r) rt.insert([](int& x) { x += 100; }, tasks::read_write(all[at(r)]));
    for (int root = 0; root < p; ++root) rt.gather(all, root);
    for (int r = 0; r < p; ++r) check.equal(*rt.acquire(all[at(r)], access::read), r + 100 * (round + 1));
  }
  rt.gather(std::vector<tasks::handle<int>>(), 0);  // of an empty list
  rt.scatter(std::vector<tasks::handle<int>>(5), p - 1);
  rt.wait_all();
}

// Switches the cache on and off, at the same place on all ranks.
void cache_on_and_off(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), last = p - 1;
  int x = 1, right = 0;
  std::atomic<int> sum = 0;
  const auto h = rt.data(x, 0);
  for (int round = 0; round < 6; ++round) {
    rt.cache(round % 2 == 0);
    for (int i = 0; i < 3; ++i) rt.insert([&](int v) { sum += v; }, tasks::read(h), tasks::on(last));
    right += 3 * (round + 1);
    rt.insert([](int& v) { ++v; }, tasks::read_write(h), tasks::on(round % p));
  }
  rt.wait_all();
  check.equal(sum.load(), me == last ? right : 0);
}

// No rank waits for anything but the call itself.
void barriers(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int x = 0, in = -1;
  const auto h = rt.data(x, me), hi = rt.data(in, me);
  rt.irecv_detached(hi, (me + p - 1) % p, 3);  // receives a message sent after the barrier
  for (int i = 0; i < 20; ++i) {
    check.equal(in, -1);
    rt.barrier();
  }
  rt.insert([](int& v) { v = 8; }, tasks::write(h));
  rt.isend_detached(h, (me + 1) % p, 3);
  rt.wait_all();
  check.equal(in, 8);
}

}  // namespace

void add_uses(list& all) {
  all.insert(all.end(), {{"views", views},
                         {"acquired_in_their_place", in_their_place},
                         {"reads_go_on", reads_go_on},
                         {"fetched", fetched},
                         {"changed_by_the_program", changed_by_the_program},
                         {"scatter_compute_gather", scatter_compute_gather},
                         {"gathered_to_all", gathered_to_all},
                         {"cache_on_and_off", cache_on_and_off},
                         {"barriers", barriers}});
}

}  // namespace calls
