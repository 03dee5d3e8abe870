// SPDX-License-Identifier: Apache-2.0
//
// Tests transfers that nobody waits for: callbacks, unlocked tags, several at once.
#include <algorithm>
#include <array>

#include "calls/call_tests.hpp"

namespace calls {
namespace {

struct around {
  explicit around(const tasks::runtime& rt)
      : p(rt.size()), me(rt.rank()), next((me + 1) % p), before((me + p - 1) % p) {}
  int p, me, next, before;
};

void with_and_without_callback(communicator& world) {
  tasks::runtime rt(world);
  const around a(rt);
  int called = 0, in = 0;
  std::vector<int> row(20000, a.me), received(20000);
  int out = a.me;
  const auto ho = rt.data(out, a.me), hi = rt.data(in, a.me);
  const auto hr = rt.data(row, a.me), hc = rt.data(received, a.me);
  for (int round = 0; round < 3; ++round) {
    rt.isend_detached(ho, a.next, 1);
    rt.irecv_detached(hi, a.before, 1);
    rt.isend_detached(ho, a.next, 2, nullptr);
    rt.irecv_detached(hi, a.before, 2, nullptr);
    rt.isend_detached(hr, a.next, 3, [&] { ++called; });
    rt.irecv_detached(hc, a.before, 3, [&] { called += 10; });
    rt.wait_all();
    check.equal(called, 11 * (round + 1));
    check.equal(in, a.before);
    check.equal(received, std::vector<int>(20000, a.before));
    std::ranges::fill(received, -1);
    in = -1;
  }
}

// When a callback runs, its transfer is complete and the received contents are available.
void called_when_complete(communicator& world) {
  tasks::runtime rt(world);
  const around a(rt);
  int seen = -1, out = a.me + 30;
  {
    int in = -1;
    const auto ho = rt.data(out, a.me), hi = rt.data(in, a.me);
    rt.irecv_detached(hi, a.before, 1, [&] { seen = in; });
    check.equal(seen, -1);
    rt.isend_detached(ho, a.next, 1);
    rt.wait_all();
  }
  check.equal(seen, a.before + 30);
}

void without_any(communicator& world) {
  tasks::runtime rt(world);
  int called = 0, ran = 0;
  rt.isend_detached({}, [&] { ++called; });
  rt.irecv_detached(std::span<const tasks::transfer>(), [&] { called += 10; });
  rt.isend_detached(std::span<const tasks::transfer>());
  rt.irecv_detached({}, tasks::unlock(4));
  rt.insert([&] { ++ran; }, tasks::after(4));
  rt.wait_all();
  check.equal(called, 11);
  check.equal(ran, 1);
}

// The task does not use the data, but waits for the transfer.
void unlocked_by_one(communicator& world) {
  tasks::runtime rt(world);
  const around a(rt);
  int out = a.me + 40, in = -1, seen = -1, reported = 0, go = 0;
  const auto ho = rt.data(out, a.me), hi = rt.data(in, a.me), ht = rt.data(reported, a.me),
             hg = rt.data(go, a.me);
  rt.irecv_detached(hi, a.before, 1, tasks::unlock(1));
  rt.insert([&] { seen = in; }, tasks::after(1));
  rt.insert([](int& x) { x = 1; }, tasks::write(ht));
  check.equal(*rt.acquire(ht, tasks::access::read), 1);  // tasks run
  check.equal(seen, -1);
  auto ready = rt.isend(ht, a.before, 2);  // the receiver of this has not sent before
  rt.recv(hg, a.next, 2);
  rt.isend_detached(ho, a.next, 1, tasks::unlock(2));
  int sent = 0;
  rt.insert([&] { sent = 1; }, tasks::after(2), tasks::name("after the send"));
  rt.wait_all();
  ready.wait();
  check.equal(seen, a.before + 40);
  check.equal(sent, 1);
}

// A waiting task may follow one that runs. A task inserted after the tag was unlocked need not
// wait.
void unlocked_by_hand(communicator& world) {
  tasks::runtime rt(world);
  int ran = 0, later = 0, x = 0;  // the two tasks are unordered, so each has its own data
  const auto h = rt.data(x, world.rank());
  rt.insert([&] { ran = 1; }, tasks::after(3));
  rt.insert([](int& y) { y = 1; }, tasks::write(h));
  check.equal(*rt.acquire(h, tasks::access::read), 1);  // tasks run
  check.equal(ran, 0);
  rt.unlock(3);
  rt.insert([&] { later = 1; }, tasks::after(3));
  rt.wait_all();
  check.equal(ran, 1);
  check.equal(later, 1);
}

void unlocked_by_all(communicator& world) {
  tasks::runtime rt(world);
  const around a(rt);
  std::vector<int> out(at(a.p)), in(at(a.p), -1), seen;
  std::vector<tasks::handle<int>> ho, hi;
  for (int r = 0; r < a.p; ++r) {
    out[at(r)] = 100 * a.me + r;
    ho.push_back(rt.data(out[at(r)], a.me));
    hi.push_back(rt.data(in[at(r)], a.me));
  }
  for (int round = 0; round < 3; ++round) {  // the tags are used again
    std::vector<tasks::transfer> sends, receives;
    for (int r = 0; r < a.p; ++r) {
      sends.emplace_back(ho[at(r)], r, 6);
      receives.emplace_back(hi[at(r)], r, 6);
    }
    int sent = 0;
    rt.irecv_detached(receives, tasks::unlock(10));
    rt.insert([&] { seen = in; }, tasks::after(10));
    rt.isend_detached(sends, tasks::unlock(11));
    rt.insert([&](const int&) { sent = 1; }, tasks::read(ho[0]), tasks::after(11));
    rt.wait_all();
    std::vector<int> right;
    for (int r = 0; r < a.p; ++r) right.push_back(100 * r + a.me);
    check.equal(seen, right);
    check.equal(sent, 1);
    seen.clear();
    std::ranges::fill(in, -1);
  }
}

void arrays_with_callback(communicator& world) {
  tasks::runtime rt(world);
  const around a(rt);
  int one = a.me, called = 0, received = 0;
  std::vector<double> large(30000, a.me), there(30000);
  int other = -1;
  const auto ho = rt.data(one, a.me), hi = rt.data(other, a.me);
  const auto hl = rt.data(large, a.me), ht = rt.data(there, a.me);
  const std::array sends{tasks::transfer(ho, a.next, 1), tasks::transfer(hl, a.next, 2)};
  const std::array receives{tasks::transfer(ht, a.before, 2), tasks::transfer(hi, a.before, 1)};
  rt.isend_detached(sends, [&] { ++called; });
  rt.irecv_detached(receives, [&] { received += other == a.before && there.back() == a.before; });
  rt.wait_all();
  check.equal(called, 1);
  check.equal(received, 1);
}

// The same wait_all() also waits for tasks that a callback inserts.
void callbacks_that_insert(communicator& world) {
  tasks::runtime rt(world);
  const around a(rt);
  int token = 0, steps = 0;
  const auto h = rt.data(token, a.me);
  constexpr int rounds = 5;
  // The order of insertion is the order of use: the data are sent on before the next receive.
  std::function<void()> turn = [&] {
    rt.insert([](int& t) { ++t; }, tasks::read_write(h));
    ++steps;
    if (a.me != a.p - 1 || steps < rounds) rt.isend_detached(h, a.next, a.me == a.p - 1 ? steps : steps - 1);
    if (steps < rounds) rt.irecv_detached(h, a.before, steps, turn);
  };
  if (a.me == 0)
    turn();
  else
    rt.irecv_detached(h, a.before, 0, turn);
  rt.wait_all();
  check.equal(steps, rounds);
  check.equal(token, (rounds - 1) * a.p + a.me + 1);
}

// The token ring of the original program: the result is nloops * size.
void token_ring(communicator& world) {
  tasks::runtime rt(world);
  const int rank = rt.rank(), size = rt.size(), nloops = 8;
  unsigned token = 0, finished = 0;
  const auto h = rt.data(token, rank);
  for (int loop = 0; loop < nloops; ++loop) {
    const int tag = loop * size + rank;
    if (loop != 0 || rank != 0) rt.irecv_detached(h, (rank + size - 1) % size, tag);
    rt.insert([](unsigned& t) { ++t; }, tasks::read_write(h));
    if (loop == nloops - 1 && rank == size - 1)
      finished = *rt.acquire(h, tasks::access::read);
    else
      rt.isend_detached(h, (rank + 1) % size, tag + 1);
  }
  rt.wait_all();
  if (rank == size - 1) {
    check.equal(finished, static_cast<unsigned>(nloops * size));
    check.equal(token, finished);
  }
}

}  // namespace

void add_detached(list& all) {
  all.insert(all.end(), {{"with_and_without_callback", with_and_without_callback},
                         {"called_when_complete", called_when_complete},
                         {"without_any", without_any},
                         {"unlocked_by_one", unlocked_by_one},
                         {"unlocked_by_hand", unlocked_by_hand},
                         {"unlocked_by_all", unlocked_by_all},
                         {"arrays_with_callback", arrays_with_callback},
                         {"callbacks_that_insert", callbacks_that_insert},
                         {"token_ring", token_ring}});
}

}  // namespace calls
