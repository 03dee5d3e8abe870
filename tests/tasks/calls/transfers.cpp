// SPDX-License-Identifier: Apache-2.0
//
// Tests explicit transfers that the program waits for.
#include <algorithm>
#include <array>
#include <optional>

#include "calls/call_tests.hpp"

namespace calls {
namespace {

using tutti::rank::any;

int value_of(int from, int to) { return 1000 * from + to; }

// Each rank sends to the next one, or to itself if it is alone.
void send_and_recv(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
  int out = value_of(me, next), in = -1;
  std::vector<double> row(300, me), received(300, -1);
  const auto o = rt.data(out, me), i = rt.data(in, me);
  const auto r = rt.data(row, me), c = rt.data(received, me);
  for (int round = 0; round < 5; ++round) {
    auto sent = rt.isend(o, next, round);
    const tutti::status s = rt.recv(i, before, round);
    sent.wait();
    check.equal(s.source(), before);
    check.equal(s.tag(), round);
    check.equal(s.count<int>(), 1u);
    check.equal(in, value_of(before, me));
    auto rows = rt.isend(r, next, 7);
    check.equal(rt.recv(c, before, 7).count<double>(), row.size());
    rows.wait();
    check.equal(received, std::vector<double>(300, before));
    in = -1;
    received.assign(received.size(), -1);
  }
}

// Blocking on both sides.
void there_and_back(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), pair = me ^ 1;
  for (const std::size_t n : {1u, 100u, 5000u, 100000u}) {
    std::vector<int> v(n, me);
    const auto h = rt.data(v, me);
    if (pair >= p) continue;
    for (int round = 0; round < 3; ++round)
      if (me < pair) {
        rt.send(h, pair, 3);
        rt.insert([](std::span<int> x) { std::ranges::fill(x, -1); }, tasks::read_write(h));
        rt.recv(h, pair, 4);
        check.equal(v, std::vector<int>(n, 2 * round + 1 + me));
        rt.insert(
            [](std::span<int> x) {
              for (int& y : x) ++y;
            },
            tasks::read_write(h));
      } else {
        rt.recv(h, pair, 3);
        rt.insert(
            [](std::span<int> x) {
              for (int& y : x) ++y;
            },
            tasks::read_write(h));
        rt.send(h, pair, 4);
      }
    rt.wait_all();
  }
}

void to_itself(communicator& world) {
  tasks::runtime rt(world);
  const int me = rt.rank();
  int a = me + 5, b = 0;
  std::vector<int> c(20000, me), d(20000);
  const auto ha = rt.data(a, me), hb = rt.data(b, me);
  const auto hc = rt.data(c, me), hd = rt.data(d, me);
  auto late = rt.irecv(hb, me, 1);
  rt.send(ha, me, 1);
  check.equal(late.wait().source(), me);
  check.equal(b, me + 5);
  auto early = rt.isend(hc, me, 2);
  rt.recv(hd, any, 2);
  early.wait();
  check.equal(d, c);
}

// A rank sends only on request, so the other knows that nothing can have arrived before.
void test_of_requests(communicator& world) {
  tasks::runtime rt(world);
  const int me = rt.rank();
  if (me > 1 || rt.size() < 2) return;
  int go = 0, x = me == 1 ? 42 : 0;
  const auto hg = rt.data(go, me), hx = rt.data(x, me);
  if (me == 0) {
    auto coming = rt.irecv(hx, 1, 9);
    for (int i = 0; i < 3; ++i) check.that(!coming.test(), "nothing was sent");
    rt.send(hg, 1, 8);
    std::optional<tutti::status> s;
    until(rt, [&] { return (s = coming.test()).has_value(); });
    check.that(s->source() == 1 && s->tag() == 9 && s->count<int>() == 1);
    check.equal(x, 42);
    check.equal(coming.wait().source(), 1);  // a second time
    check.that(coming.test().has_value());
  } else {
    rt.recv(hg, 0, 8);
    auto going = rt.isend(hx, 0, 9);
    until(rt, [&] { return going.test().has_value(); });
  }
}

void requests_can_be_moved(communicator& world) {
  tasks::runtime rt(world);
  const int me = rt.rank();
  tasks::request none;
  check.equal(none.wait().source(), tutti::rank::null);
  check.that(none.test().has_value());
  int a = 1, b = 2, in = 0, also = 0;
  const auto ha = rt.data(a, me), hb = rt.data(b, me), hi = rt.data(in, me), hj = rt.data(also, me);
  {
    tasks::request first = rt.irecv(hi, me, 1), second = rt.isend(ha, me, 1);
    tasks::request moved = std::move(first);
    check.equal(first.wait().source(), tutti::rank::null);
    check.equal(moved.wait().source(), me);
    check.equal(in, 1);
    moved = rt.irecv(hj, me, 2);
    (void)rt.isend(hb, me, 2);  // its destructor waits
  }                             // and so does that of the receive
  check.equal(also, 2);
}

void any_source_and_tag(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank();
  int x = me + 100;
  const auto h = rt.data(x, me);
  if (me != 0) {
    rt.send(h, 0, me);
  } else {
    std::vector<char> seen(at(p));
    int in = 0;
    const auto hi = rt.data(in, 0);
    for (int i = 1; i < p; ++i) {
      const tutti::status s = rt.recv(hi, any, tutti::tags::any);
      check.equal(s.tag(), s.source());
      check.equal(in, s.source() + 100);
      check.that(!seen[at(s.source())]);
      seen[at(s.source())] = 1;
    }
  }
  rt.wait_all();
}

void other_lengths(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
  for (const std::size_t n : {3u, 9000u}) {
    std::vector<int> whole(n, me), more(2 * n, -7), few(n - 1, -7);
    const auto hw = rt.data(whole, me), hm = rt.data(more, me), hf = rt.data(few, me);
    auto sent = rt.isend(hw, next, 1);
    check.equal(rt.recv(hm, before, 1).count<int>(), n);  // the rest is unchanged
    std::vector<int> right(2 * n, -7);
    std::fill_n(right.begin(), n, before);
    check.equal(more, right);
    sent.wait();
    sent = rt.isend(hw, next, 2);
    check.throws<tutti::truncation_error>(
        [&] { rt.recv(hf, before, 2); },
        {"irecv", std::to_string(4 * n).c_str(), std::to_string(4 * n - 4).c_str()});
    check.equal(few, std::vector<int>(n - 1, -7));
    sent.wait();
    sent = rt.isend(hw, next, 2);  // the error has no lasting effect
    check.equal(rt.recv(hm, before, 2).source(), before);
    sent.wait();
    rt.wait_all();
  }
}

// A transfer begins when the data are ready: after earlier tasks that write them, and before later
// tasks that overwrite them.
void in_their_place(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
  for (const std::size_t n : {1u, 4000u}) {
    std::vector<int> v(n), w(n);
    std::array<int, 4> sums{};
    const auto hv = rt.data(v, me), hw = rt.data(w, me);
    for (int round = 0; round < 4; ++round) {
      rt.insert([round, me](std::span<int> x) { std::ranges::fill(x, 10 * round + me); }, tasks::write(hv));
      rt.isend_detached(hv, next, round);
      rt.insert([](std::span<int> x) { std::ranges::fill(x, -1); }, tasks::write(hv));
      rt.irecv_detached(hw, before, round);
      rt.insert([&s = sums[at(round)]](std::span<const int> x) { s = x.front() + x.back(); },
                tasks::read(hw));
    }
    rt.wait_all();
    for (int round = 0; round < 4; ++round) check.equal(sums[at(round)], 2 * (10 * round + before));
    check.equal(v, std::vector<int>(n, -1));
    check.equal(w, std::vector<int>(n, 30 + before));
  }
}

void before_the_receive(communicator& world) {
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
  for (const std::size_t n : {1u, 1000u, 30000u}) {
    std::vector<int> v(n, me), w(n);
    const auto hv = rt.data(v, me), hw = rt.data(w, me);
    rt.isend_detached(hv, next, 5);
    rt.progress();
    rt.barrier();
    rt.recv(hw, before, 5);
    check.equal(w, std::vector<int>(n, before));
    rt.wait_all();
  }
}

void many_early(communicator& world) {
  constexpr int many = 500;
  tasks::runtime rt(world);
  const int p = rt.size(), me = rt.rank(), next = (me + 1) % p, before = (me + p - 1) % p;
  std::array<int, many> out{}, in{};
  std::vector<tasks::handle<int>> ho, hi;
  for (int i = 0; i < many; ++i) out[at(i)] = 1000 * me + i;
  for (int& x : out) ho.push_back(rt.data(x, me));
  for (int& x : in) hi.push_back(rt.data(x, me));
  for (int i = 0; i < many; ++i) rt.isend_detached(ho[at(i)], next, i);
  rt.barrier();
  std::vector<tasks::request> coming;  // in reverse order
  for (int i = many - 1; i >= 0; --i) coming.push_back(rt.irecv(hi[at(i)], before, i));
  for (auto& c : coming) check.equal(c.wait().source(), before);
  for (int i = 0; i < many; ++i) check.equal(in[at(i)], 1000 * before + i);
  rt.wait_all();
}

// Peers are ranks of that communicator. The same communicator may also carry other messages.
void over_another_communicator(communicator& world) {
  tasks::runtime rt(world);
  const int p = world.size(), me = world.rank();
  const communicator turned = std::move(*world.split(0, p - me));
  const int there = turned.rank(), next = (there + 1) % p, before = (there + p - 1) % p;
  check.equal(there, p - 1 - me);
  int out = 70 + there, in = -1, own = 500 + me, other = -1;
  const auto ho = rt.data(out, me), hi = rt.data(in, me), hown = rt.data(own, me),
             hother = rt.data(other, me);
  const std::array mine{tasks::transfer(ho, next, 3, turned), tasks::transfer(hown, (me + 1) % p, 3)};
  const std::array theirs{tasks::transfer(hi, before, 3, turned),
                          tasks::transfer(hother, (me + p - 1) % p, 3)};
  int called = 0;
  rt.isend_detached(mine, [&] { ++called; });
  rt.irecv_detached(theirs, [&] { ++called; });
  rt.wait_all();
  check.equal(called, 2);
  check.equal(in, 70 + before);
  check.equal(other, 500 + (me + p - 1) % p);

  const std::array plain{tasks::transfer(ho, (me + 1) % p, 11, world)};
  rt.isend_detached(plain);
  check.equal(world.recv<int>(tutti::source((me + p - 1) % p), tutti::tag(11)),
              std::vector<int>{70 + p - 1 - (me + p - 1) % p});
  auto sent = world.isend(tutti::send_buf(own), tutti::destination((me + 1) % p), tutti::tag(12));
  const std::array from_it{tasks::transfer(hi, any, 12, world)};
  rt.irecv_detached(from_it);
  rt.wait_all();
  sent.wait();
  check.equal(in, 500 + (me + p - 1) % p);
}

}  // namespace

void add_transfers(list& all) {
  all.insert(all.end(), {{"send_and_recv", send_and_recv},
                         {"there_and_back", there_and_back},
                         {"to_itself", to_itself},
                         {"test_of_requests", test_of_requests},
                         {"requests_can_be_moved", requests_can_be_moved},
                         {"any_source_and_tag", any_source_and_tag},
                         {"other_lengths", other_lengths},
                         {"in_their_place", in_their_place},
                         {"before_the_receive", before_the_receive},
                         {"many_early", many_early},
                         {"over_another_communicator", over_another_communicator}});
}

}  // namespace calls
