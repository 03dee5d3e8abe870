// SPDX-License-Identifier: Apache-2.0
//
// Messages whose buffers hold items of a layout: every form, either side or both, counts in items, what lies
// between the pieces left alone, and what is refused.
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

constexpr int canary = -77;

// An item is two ints, `gap` ints apart, and the next begins `step` ints on.
struct strided {
  int gap, step;
  layout item() const {
    return layout::vector(2, 1, gap, type_of<int>()).resized(static_cast<std::size_t>(step) * sizeof(int));
  }
  std::size_t room(int items) const {
    return items == 0 ? 0 : static_cast<std::size_t>((items - 1) * step + gap + 1);
  }
  // A buffer with these elements in its items, and `more` canaries after them.
  ints spread(const ints& dense, std::size_t more = 3) const {
    const int items = static_cast<int>(dense.size() / 2);
    ints v(room(items) + more, canary);
    for (int i = 0; i < items; ++i) {
      v[static_cast<std::size_t>(i * step)] = dense[static_cast<std::size_t>(2 * i)];
      v[static_cast<std::size_t>(i * step + gap)] = dense[static_cast<std::size_t>(2 * i + 1)];
    }
    return v;
  }
  // One that is large enough, to receive into.
  ints blank(int items, std::size_t more = 3) const { return ints(room(items) + more, canary); }
};

constexpr strided wide{3, 5}, interleaved{3, 1}, dense{1, 2};

struct ring {
  int p, me, right, left;
  explicit ring(const communicator& comm)
      : p(comm.size()), me(comm.rank()), right((me + 1) % p), left((me + p - 1) % p) {}
};

// What rank r sends: `items` items.
ints made_by(int r, int items, int round = 0) {
  ints v(static_cast<std::size_t>(2 * items));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 100000 * r + 10000 * round + static_cast<int>(i);
  return v;
}

// --- what is sent ---

template <class Send>
void one_mode(const communicator& world, Send&& send) {
  const ring r(world);
  for (int n : {0, 1, 7, 3000})
    for (const strided& s : {wide, dense}) {
      const ints mine = s.spread(made_by(r.me, n));
      const layout item = s.item();
      auto coming = world.irecv<int>(source(r.left), tag(n));
      send(mine, item, n, destination(r.right), tag(n));
      check.equal(coming.wait(), made_by(r.left, n));
      check.equal(mine, s.spread(made_by(r.me, n)));
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
    request under_way;  // the layout and the buffer are kept by nobody but their owners
    world.issend(send_buf(v), send_type(t), send_count(n), request(under_way), to...);
    under_way.wait();
  });
  one_mode(world, [&](buffer v, type t, int n, auto... to) {
    world.ibsend(send_buf(ints(v)), send_type(layout(t)), send_count(n), to...).wait();
  });
}

// A nonblocking send has packed what it sends; a persistent one packs what is there at each start.
void sent_later(const communicator& world) {
  const ring r(world);
  for (int n : {2, 2000}) {
    ints mine = wide.spread(made_by(r.me, n));
    auto under_way = world.isend(send_buf(mine), send_type(wide.item()), send_count(n), destination(r.right));
    check.equal(world.recv<int>(source(r.left)), made_by(r.left, n));
    under_way.wait();
    auto again = world.send_init(send_buf(mine), send_type(wide.item()), send_count(n), destination(r.right));
    for (int round = 0; round < 3; ++round) {
      const ints next = wide.spread(made_by(r.me, n, round));
      mine = next;  // in its place
      again.start();
      check.equal(world.recv<int>(source(r.left)), made_by(r.left, n, round));
      again.wait();
    }
  }
}

// --- what is received ---

void received(const communicator& world) {
  const ring r(world);
  for (int n : {0, 1, 6, 2500})
    for (const strided& s : {wide, dense}) {
      const layout item = s.item();
      const ints mine = made_by(r.me, n), theirs = s.spread(made_by(r.left, n));
      const auto send = [&] { return world.isend(send_buf(mine), destination(r.right)); };
      {
        auto under_way = send();
        ints got = s.blank(n);
        auto [count, from] =
            world.recv(recv_buf(got), recv_type(item), source(r.left), recv_count_out(), status_out());
        under_way.wait();
        check.equal(got, theirs);
        check.equal(count, n);
        check.equal(from.bytes(), mine.size() * sizeof(int));
      }
      {  // shorter than what might come
        auto under_way = send();
        ints got = s.blank(n + 4), expected = s.spread(made_by(r.left, n));
        expected.resize(got.size(), canary);
        long count = -1;
        world.recv(recv_type(item), recv_buf(got), recv_count(n + 4), source(r.left));
        check.equal(got, expected);
        under_way.wait();
        under_way = send();
        world.irecv(recv_type(item), recv_buf(got), recv_count_out(count), source(r.left)).wait();
        check.equal(got, expected);
        check.equal(count, static_cast<long>(n));
        under_way.wait();
      }
      {  // kept by the call
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

// Runs of different lengths into one prepared receive.
void received_again(const communicator& world) {
  const ring r(world);
  ints got = wide.blank(1500), counted = got;
  const layout item = wide.item();
  auto any = world.recv_init(recv_buf(got), recv_type(item), source(r.left), tag(1), recv_count_out());
  auto most = world.recv_init(recv_buf(counted), recv_type(item), source(r.left), tag(2), recv_count(1500));
  for (int n : {3, 1500, 0, 2}) {
    const ints mine = made_by(r.me, n, n % 7);
    ints expected = wide.spread(made_by(r.left, n, n % 7));
    expected.resize(got.size(), canary);
    got.assign(got.size(), canary);
    counted = got;
    any.start();
    most.start();
    auto first = world.isend(send_buf(mine), destination(r.right), tag(1));
    auto second = world.isend(send_buf(mine), destination(r.right), tag(2));
    check.equal(any.wait().extract_recv_count(), n);
    most.wait();
    check.equal(got, expected);
    check.equal(counted, expected);
    first.wait();
    second.wait();
  }
}

// --- both at once ---

void exchanged(const communicator& world) {
  const ring r(world);
  for (int n : {0, 2, 1800}) {
    const ints mine = wide.spread(made_by(r.me, n));
    const auto to = [&] { return destination(r.right); };
    ints got = dense.blank(n);
    // Items may overlap in what is sent: here every int but the first three and the last three is in two.
    const ints run = made_by(r.me, n + 3), of_left = made_by(r.left, n + 3);
    ints doubled;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      doubled.insert(doubled.end(), {of_left[i], of_left[i + 3]});
    check.equal(world.sendrecv(send_buf(run), send_type(interleaved.item()), send_count(n), to()), doubled);

    world.sendrecv(send_buf(mine), send_type(wide.item()), send_count(n), to(), recv_buf(got),
                   recv_type(dense.item()), source(r.left));
    check.equal(got, dense.spread(made_by(r.left, n)));

    got = wide.blank(n);
    world.sendrecv(send_buf(made_by(r.me, n)), to(), recv_buf(got), recv_type(wide.item()), recv_count(n));
    check.equal(got, wide.spread(made_by(r.left, n)));

    for (const strided& s : {wide, dense}) {  // in place
      ints both = s.spread(made_by(r.me, n + 1));
      ints expected = s.spread(made_by(r.left, n));
      expected.resize(both.size(), canary);
      if (const ints own = s.spread(made_by(r.me, n + 1)); true)  // what is beyond the message stays
        for (std::size_t i = static_cast<std::size_t>(n * s.step); i < own.size(); ++i) expected[i] = own[i];
      int count = -1;
      world.sendrecv(send_recv_buf(both), send_recv_type(s.item()), send_count(n), to(), source(r.left),
                     recv_count_out(count));
      check.equal(both, expected);
      check.equal(count, n);
    }
    // Rank r sends r items, and receives what there is.
    ints both = wide.spread(made_by(r.me, r.p));
    world.sendrecv(send_recv_buf(both), send_recv_type(wide.item()), send_count(r.me), to(), recv_count(r.p));
    ints expected = wide.spread(made_by(r.me, r.p));
    const ints theirs = wide.spread(made_by(r.left, r.left), 0);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (theirs[i] != canary) expected[i] = theirs[i];
    check.equal(both, expected);
  }
}

void found_first(const communicator& world) {
  const ring r(world);
  for (int n : {1, 1200}) {
    const ints mine = wide.spread(made_by(r.me, n)), theirs = wide.spread(made_by(r.left, n));
    const auto send = [&] {
      return world.isend(send_buf(mine), send_type(wide.item()), send_count(n), destination(r.right), tag(6));
    };
    ints got = wide.blank(n);
    auto under_way = send();
    while (!world.try_recv(recv_buf(got), recv_type(wide.item()), tag(6))) {
    }
    under_way.wait();
    check.equal(got, theirs);

    under_way = send();
    got = wide.blank(n);
    message m = world.mprobe(tag(6));
    ints few = wide.blank(n, 0);
    few.pop_back();
    check.throws<usage_error>([&] { m.recv(recv_buf(few), recv_type(wide.item())); }, {"recv", "recv_buf"});
    check.that(m.valid());
    m.recv(recv_buf(got), recv_type(wide.item()), recv_count(n));
    under_way.wait();
    check.equal(got, theirs);

    under_way = send();
    got = wide.blank(n);
    m = world.mprobe(tag(6));
    m.irecv(recv_buf(got), recv_type(wide.item())).wait();
    under_way.wait();
    check.equal(got, theirs);
  }
}

// --- layouts that are asked for ---

void asked(const communicator& world) {
  const ring r(world);
  const std::vector<double> v = {0.5, 1.5};
  auto under_way = world.isend(send_buf(v), send_type_out(), destination(r.right));
  auto [got, type] = world.recv<double>(recv_type_out());
  check.equal(got, v);
  check.that(type == type_of<double>());
  check.that(under_way.wait().extract_send_type() == type_of<double>());
  layout of_sent, of_received;
  check.equal(world
                  .sendrecv<float>(send_buf(v), send_type_out(of_sent), recv_type_out(of_received),
                                   destination(r.right))
                  .size(),
              4u);
  check.that(of_sent == type_of<double>() && of_received == type_of<float>());
}

// --- what is refused ---

template <class Error, class Call>
void refused(Call&& call, std::initializer_list<const char*> words,
             const std::source_location& at = std::source_location::current()) {
  check.throws<Error>(call, words, at);
}

void refused_to_send(const communicator& world) {
  const ring r(world);
  const ints mine = wide.spread(made_by(r.me, 3), 0);
  const layout item = wide.item();
  const layout before = layout::indexed({{0, 1}, {-1, 1}}, type_of<int>());
  const auto to = [&] { return destination(r.right); };
  refused<usage_error>([&] { world.send(send_buf(mine), send_type(item), send_count(4), to()); },
                       {"send", "send_count", "4 items reach to byte"});
  refused<usage_error>([&] { (void)world.isend(send_buf(mine), send_type(item), send_count(-1), to()); },
                       {"isend", "send_count", "negative"});
  refused<usage_error>(
      [&] { (void)world.send_init(send_buf(mine), send_type(item), send_count(0x7fffffffffffffff), to()); },
      {"send_init", "send_count", "memory"});
  refused<usage_error>([&] { world.bsend(send_buf(mine), send_type(before), send_count(1), to()); },
                       {"bsend", "send_type", "4 bytes before"});
  ints both = mine;
  refused<usage_error>(
      [&] { world.sendrecv(send_recv_buf(both), send_recv_type(item), send_count(1), recv_count(4), to()); },
      {"sendrecv", "send_recv_buf", "reach"});
  check.equal(both, mine);
}

// Each of these leaves the message and the buffer, but for the one that is cut short.
void refused_to_receive(const communicator& world) {
  const ring r(world);
  const layout item = wide.item();
  const auto from = [&] { return source(r.left); };
  for (int n : {3, 1001}) {
    const ints mine = made_by(r.me, n), odd(mine.begin(), mine.end() - 1);
    auto under_way = world.isend(send_buf(mine), destination(r.right));
    ints few = wide.blank(n, 0);
    few.pop_back();
    const ints untouched = few;
    refused<usage_error>([&] { world.recv(recv_buf(few), recv_type(item), from()); },
                         {"recv", "recv_buf", "reach to byte"});
    refused<usage_error>([&] { world.recv(recv_buf(few), recv_type(item), recv_count(n), from()); },
                         {"recv", "recv_buf", "reach to byte"});
    auto coming = world.irecv(recv_buf(few), recv_type(item), from());
    refused<usage_error>([&] { coming.wait(); }, {"irecv", "recv_buf"});
    const layout three = layout::contiguous(3, type_of<int>()).resized(16);
    if (2 * n % 3 != 0)
      refused<mismatch_error>([&] { world.recv(recv_buf(few), recv_type(three), from()); },
                              {"recv", "no whole number"});
    refused<mismatch_error>([&] { world.recv(recv_buf(few), recv_type(layout()), from()); },
                            {"recv", "recv_type"});
    check.equal(few, untouched);
    check.equal(world.recv<int>(from()), made_by(r.left, n));
    under_way.wait();

    under_way = world.isend(send_buf(odd), destination(r.right));
    refused<mismatch_error>([&] { world.recv(recv_buf(few), recv_type(item), from()); },
                            {"recv", "no whole number"});
    check.equal(world.recv<int>(from()).size(), odd.size());
    under_way.wait();

    // A prepared receive that was refused has nothing to unpack, and is used again.
    auto again = world.recv_init(recv_buf(few), recv_type(item), from());
    for (int round = 0; round < 2; ++round) {
      world.bsend(send_buf(made_by(r.me, n - 1, round)), destination(r.right));
      again.start();
      again.wait();
      world.bsend(send_buf(mine), destination(r.right));
      few = untouched;
      again.start();
      refused<usage_error>([&] { again.wait(); }, {"recv_init", "recv_buf"});
      again.wait();
      check.equal(few, untouched);
      check.equal(world.recv<int>(from()), made_by(r.left, n));
    }

    under_way = world.isend(send_buf(mine), destination(r.right));
    refused<truncation_error>([&] { world.recv(recv_buf(few), recv_type(item), recv_count(n - 1), from()); },
                              {"recv", "recv_count"});
    check.equal(few, untouched);
    under_way.wait();
  }
}

// A prepared call is not started again before somebody has waited for it: what has come would be lost, and
// what is sent would be packed over.
void refused_to_start(const communicator& world) {
  const ring r(world);
  const layout item = wide.item();
  ints mine = wide.spread(made_by(r.me, 900)), got = wide.blank(900);
  auto sending = world.send_init(send_buf(mine), send_type(item), send_count(900), destination(r.right));
  auto receiving = world.recv_init(recv_buf(got), recv_type(item), source(r.left));
  receiving.start();
  refused<usage_error>([&] { receiving.start(); }, {"recv_init", "under way"});
  sending.start();
  mine.assign(mine.size(), canary);
  refused<usage_error>([&] { sending.start(); }, {"send_init", "under way"});
  receiving.wait();
  sending.wait();
  check.equal(got, wide.spread(made_by(r.left, 900)));
}

void nobody(const communicator& world) {
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
    const auto run = [&](const char* name, void (*body)(const communicator&)) {
      cases(name, [&] {
        body(world);
        world.barrier();
        check.that(!world.iprobe());  // each message was sent for a receive, and received
        world.barrier();
      });
    };
    run("sent", sent);
    run("sent_later", sent_later);
    run("received", received);
    run("received_again", received_again);
    run("exchanged", exchanged);
    run("found_first", found_first);
    run("asked", asked);
    run("refused_to_send", refused_to_send);
    run("refused_to_receive", refused_to_receive);
    run("refused_to_start", refused_to_start);
    run("nobody", nobody);
  });
}
