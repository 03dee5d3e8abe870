// SPDX-License-Identifier: Apache-2.0
//
// Tests messages whose buffers have layouts: every form, on either side or both, with counts in
// items. Bytes between the pieces must not change.
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/strided_items.hpp"

using namespace tutti;
using tests::check;
using tests::dense, tests::interleaved, tests::ints, tests::items_by, tests::ring, tests::strided,
    tests::wide;

namespace {

// --- sends

template <class Send>
void one_mode(const communicator& world, Send&& send) {
  const ring r(world);
  for (int n : {0, 1, 7, 3000})
    for (const strided& s : {wide, dense}) {
      const ints mine = s.spread(items_by(r.me, n));
      const layout item = s.item();
      auto coming = world.irecv<int>(source(r.left), tag(n));
      send(mine, item, n, destination(r.right), tag(n));
      check.equal(coming.wait(), items_by(r.left, n));
      check.equal(mine, s.spread(items_by(r.me, n)));
    }
}

void sent(const communicator& world) {
  using buffer = const ints&;
  using type = const layout&;
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.send(send_buf(v), send_type(t), send_count(n), to...);
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.ssend(send_buf(v), send_type(t), send_count(n), to...);
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.bsend(to..., send_count(n), send_type(t), send_buf(v));
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.barrier();  // all receives have begun
    world.rsend(send_buf(v), send_type(t), send_count(n), to...);
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.isend(send_buf(v), send_type(t), send_count(n), to...).wait();
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    request pending;  // the call keeps neither the layout nor the buffer
    world.issend(send_buf(v), send_type(t), send_count(n), request(pending), to...);
    pending.wait();
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.ibsend(send_buf(ints(v)), send_type(layout(t)), send_count(n), to...).wait();
  });
}

// A nonblocking send packs its data when it begins. A persistent send packs at each start.
void sent_later(const communicator& world) {
  const ring r(world);
  for (int n : {2, 2000}) {
    ints mine = wide.spread(items_by(r.me, n));
    auto pending = world.isend(send_buf(mine), send_type(wide.item()), send_count(n), destination(r.right));
    check.equal(world.recv<int>(source(r.left)), items_by(r.left, n));
    pending.wait();
    auto again = world.send_init(send_buf(mine), send_type(wide.item()), send_count(n), destination(r.right));
    for (int round = 0; round < 3; ++round) {
      const ints next = wide.spread(items_by(r.me, n, round));
      mine = next;  // same storage
      again.start();
      check.equal(world.recv<int>(source(r.left)), items_by(r.left, n, round));
      again.wait();
    }
  }
}

// --- receives

void received(const communicator& world) {
  const ring r(world);
  for (int n : {0, 1, 6, 2500})
    for (const strided& s : {wide, dense}) {
      const layout item = s.item();
      const ints mine = items_by(r.me, n), theirs = s.spread(items_by(r.left, n));
      const auto send = [&] { return world.isend(send_buf(mine), destination(r.right)); };
      {
        auto pending = send();
        ints got = s.blank(n);
        auto [count, from] =
            world.recv(recv_buf(got), recv_type(item), source(r.left), recv_count_out(), status_out());
        pending.wait();
        check.equal(got, theirs);
        check.equal(count, n);
        check.equal(from.bytes(), mine.size() * sizeof(int));
      }
      {  // the message is shorter than the maximum
        auto pending = send();
        ints got = s.blank(n + 4), expected = s.spread(items_by(r.left, n));
        expected.resize(got.size(), tests::canary);
        long count = -1;
        world.recv(recv_type(item), recv_buf(got), recv_count(n + 4), source(r.left));
        check.equal(got, expected);
        pending.wait();
        pending = send();
        world.irecv(recv_type(item), recv_buf(got), recv_count_out(count), source(r.left)).wait();
        check.equal(got, expected);
        check.equal(count, static_cast<long>(n));
        pending.wait();
      }
      {  // the call owns the buffer
        auto coming = world.irecv(recv_buf(s.blank(n)), recv_type(layout(item)), source(r.left));
        send().wait();
        check.equal(coming.wait(), theirs);
      }
      {
        ints got = s.blank(n);
        request coming;
        world.irecv(recv_buf(got), recv_type(item), recv_count(n), source(r.left), request(coming));
        send().wait();
        coming.wait();
        check.equal(got, theirs);
      }
    }
}

// Receives messages of different lengths with one persistent receive.
void received_again(const communicator& world) {
  const ring r(world);
  ints got = wide.blank(1500), counted = got;
  const layout item = wide.item();
  auto any = world.recv_init(recv_buf(got), recv_type(item), source(r.left), tag(1), recv_count_out());
  auto bounded =
      world.recv_init(recv_buf(counted), recv_type(item), source(r.left), tag(2), recv_count(1500));
  for (int n : {3, 1500, 0, 2}) {
    const ints mine = items_by(r.me, n, n % 7);
    ints expected = wide.spread(items_by(r.left, n, n % 7));
    expected.resize(got.size(), tests::canary);
    got.assign(got.size(), tests::canary);
    counted = got;
    any.start();
    bounded.start();
    auto first = world.isend(send_buf(mine), destination(r.right), tag(1));
    auto second = world.isend(send_buf(mine), destination(r.right), tag(2));
    check.equal(any.wait().extract_recv_count(), n);
    bounded.wait();
    check.equal(got, expected);
    check.equal(counted, expected);
    first.wait();
    second.wait();
  }
}

// --- both in one call

void exchanged(const communicator& world) {
  const ring r(world);
  for (int n : {0, 2, 1800}) {
    const ints mine = wide.spread(items_by(r.me, n));
    const auto to = [&] { return destination(r.right); };
    ints got = dense.blank(n);
    // Items to send may overlap: here every int except the first three and the last three is in two
    // items.
    const ints run = items_by(r.me, n + 3), of_left = items_by(r.left, n + 3);
    ints doubled;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      doubled.insert(doubled.end(), {of_left[i], of_left[i + 3]});
    check.equal(world.sendrecv(send_buf(run), send_type(interleaved.item()), send_count(n), to()), doubled);

    world.sendrecv(send_buf(mine), send_type(wide.item()), send_count(n), to(), recv_buf(got),
                   recv_type(dense.item()), source(r.left));
    check.equal(got, dense.spread(items_by(r.left, n)));

    got = wide.blank(n);
    world.sendrecv(send_buf(items_by(r.me, n)), to(), recv_buf(got), recv_type(wide.item()), recv_count(n));
    check.equal(got, wide.spread(items_by(r.left, n)));

    for (const strided& s : {wide, dense}) {  // in place
      ints both = s.spread(items_by(r.me, n + 1));
      ints expected = s.spread(items_by(r.left, n));
      expected.resize(both.size(), tests::canary);
      if (const ints own = s.spread(items_by(r.me, n + 1)); true)  // items beyond the message stay
        for (std::size_t i = static_cast<std::size_t>(n * s.step); i < own.size(); ++i) expected[i] = own[i];
      int count = -1;
      world.sendrecv(send_recv_buf(both), send_recv_type(s.item()), send_count(n), to(), source(r.left),
                     recv_count_out(count));
      check.equal(both, expected);
      check.equal(count, n);
    }
    // Rank r sends r items and receives whatever arrives.
    ints both = wide.spread(items_by(r.me, r.p));
    world.sendrecv(send_recv_buf(both), send_recv_type(wide.item()), send_count(r.me), to(), recv_count(r.p));
    ints expected = wide.spread(items_by(r.me, r.p));
    const ints theirs = wide.spread(items_by(r.left, r.left), 0);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (theirs[i] != tests::canary) expected[i] = theirs[i];
    check.equal(both, expected);
  }
}

void probed_first(const communicator& world) {
  const ring r(world);
  for (int n : {1, 1200}) {
    const ints mine = wide.spread(items_by(r.me, n)), theirs = wide.spread(items_by(r.left, n));
    const auto send = [&] {
      return world.isend(send_buf(mine), send_type(wide.item()), send_count(n), destination(r.right), tag(6));
    };
    ints got = wide.blank(n);
    auto pending = send();
    while (!world.try_recv(recv_buf(got), recv_type(wide.item()), tag(6))) {
    }
    pending.wait();
    check.equal(got, theirs);

    pending = send();
    got = wide.blank(n);
    message m = world.mprobe(tag(6));
    ints few = wide.blank(n, 0);
    few.pop_back();
    check.throws<usage_error>([&] { m.recv(recv_buf(few), recv_type(wide.item())); }, {"recv", "recv_buf"});
    check.that(m.valid());
    m.recv(recv_buf(got), recv_type(wide.item()), recv_count(n));
    pending.wait();
    check.equal(got, theirs);

    pending = send();
    got = wide.blank(n);
    m = world.mprobe(tag(6));
    m.irecv(recv_buf(got), recv_type(wide.item())).wait();
    pending.wait();
    check.equal(got, theirs);
  }
}

// --- layouts as output

void type_out(const communicator& world) {
  const ring r(world);
  const std::vector<double> v = {0.5, 1.5};
  auto pending = world.isend(send_buf(v), send_type_out(), destination(r.right));
  auto [got, type] = world.recv<double>(recv_type_out());
  check.equal(got, v);
  check.that(type == type_of<double>());
  check.that(pending.wait().extract_send_type() == type_of<double>());
  layout of_sent, of_received;
  check.equal(world
                  .sendrecv<float>(send_buf(v), send_type_out(of_sent), recv_type_out(of_received),
                                   destination(r.right))
                  .size(),
              4u);
  check.that(of_sent == type_of<double>() && of_received == type_of<float>());
}

void null_rank(const communicator& world) {
  const layout item = wide.item();
  ints v = wide.blank(2);
  world.send(send_buf(v), send_type(item), send_count(2), destination(rank::null));
  auto result = world.recv(recv_buf(v), recv_type(item), source(rank::null), recv_count_out());
  check.equal(result.extract_recv_count(), 0);
  world.irecv(recv_buf(v), recv_type(item), recv_count(2), source(rank::null)).wait();
  check.equal(v, wide.blank(2));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const auto run = [&](const char* name, const auto& body) {
      tests::isolated_case(world, cases, name, body);
    };
    run("sent", sent);
    run("sent_later", sent_later);
    run("received", received);
    run("received_again", received_again);
    run("exchanged", exchanged);
    run("probed_first", probed_first);
    run("type_out", type_out);
    run("null_rank", null_rank);
  });
}
