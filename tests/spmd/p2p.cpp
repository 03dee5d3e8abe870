// SPDX-License-Identifier: Apache-2.0
//
// Tests point-to-point messages below the C++ API (tutti/detail/p2p_abi.hpp): modes, sizes,
// matching order, messages that are probed, extracted and returned, and errors. Uses pairs of
// ranks, or the own rank if there is only one.
#include "support/p2p.hpp"

#include <algorithm>
#include <stdexcept>

#include <tutti/tutti.hpp>

#include "support/program.hpp"

using namespace tutti;
using namespace tests;
using detail::communicator_impl;

namespace {

constexpr std::size_t sizes[] = {0, 1, 8, 64, 65, 1024, 1025, 4096, 4097, 100000, std::size_t{1} << 20};
constexpr send_modes modes[] = {send_modes::standard, send_modes::buffered, send_modes::synchronous,
                                send_modes::ready};

// Each rank sends to the next one, all at the same time.
struct ring {
  int left, right;
  explicit ring(const communicator& c)
      : left((c.rank() + c.size() - 1) % c.size()), right((c.rank() + 1) % c.size()) {}
};

// Blocking messages in both directions between pairs. The last rank of an odd number takes no part.
void pairs(communicator& world, send_modes mode) {
  communicator_impl& c = detail::impl_of(world);
  const int me = world.rank(), other = me ^ 1;
  if (other >= world.size()) return;
  for (const std::size_t n : sizes) {
    const bytes mine = contents(me, 3, n), expected = contents(other, 3, n);
    for (int turn = 0; turn < 2; ++turn) {
      if ((me & 1) == turn) {
        if (mode == send_modes::ready) {  // the receiver reports that its receive has begun
          bytes nothing;
          detail::receive(c, recv_into(other, 4, nothing));
        }
        detail::send(c, send_to(other, 3, mine, mode));
      } else {
        bytes got;
        auto under_way = detail::start_receive(c, recv_any_length(other, 3, got));
        if (mode == send_modes::ready) detail::send(c, send_to(other, 4, {}));
        under_way->wait();
        expect_envelope(detail::found(*under_way), other, 3, n);
        check.equal(got, expected);
      }
    }
  }
}

void shifts(communicator& world, send_modes mode) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  for (const std::size_t n : sizes) {
    const bytes mine = contents(world.rank(), 1, n);
    bytes got(n, 0xee);
    auto in = detail::start_receive(c, recv_into(r.left, 1, got));
    auto out = detail::start_send(c, send_to(r.right, 1, mine, mode, "isend"));
    if (n % 2 == 0) {
      in->wait();
      out->wait();
    } else {
      while (!out->test()) {
      }
      while (!in->test()) {
      }
      check.that(in->test() && out->test());
    }
    expect_envelope(detail::found(*in), r.left, 1, n);
    expect_envelope(detail::found(*out), rank::null, tags::any, 0);
    check.equal(got, contents(r.left, 1, n));
  }
}

// A large message to the own rank needs a posted receive, or a send that does not wait.
void to_oneself(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const int me = world.rank();
  for (const std::size_t n : sizes) {
    bytes got;
    const bytes mine = contents(me, 2, n);
    {
      auto in = detail::start_receive(c, recv_any_length(me, 2, got));
      detail::send(c, send_to(me, 2, mine, send_modes::synchronous));
      in->wait();
      check.equal(got, mine);
    }
    auto out = detail::start_send(c, send_to(me, 2, mine));
    expect_envelope(detail::receive(c, recv_any_length(rank::any, tags::any, got)), me, 2, n);
    out->wait();
    check.equal(got, mine);
    detail::send(c, send_to(me, 2, mine, send_modes::buffered));
    got.assign(n, 0);
    expect_envelope(detail::receive(c, recv_into(me, 2, got)), me, 2, n);
    check.equal(got, mine);
  }
}

void null_rank(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  bytes got(5, 9);
  detail::send(c, send_to(rank::null, 0, got, send_modes::synchronous));
  detail::start_send(c, send_to(rank::null, 0, got))->wait();
  expect_envelope(detail::receive(c, recv_into(rank::null, 0, got)), rank::null, tags::any, 0);
  check.equal(got, bytes(5, 9));
  auto in = detail::start_receive(c, recv_any_length(rank::null, tags::any, got));
  in->wait();
  expect_envelope(detail::found(*in), rank::null, tags::any, 0);
  check.that(got.empty(), "the place of a message of nobody is made to fit");
  envelope e;
  check.that(detail::probe(c, "probe", rank::null, 0, true, e));
  expect_envelope(e, rank::null, tags::any, 0);
}

// Several interleaved tags: messages of one tag keep their order, and wildcards match the oldest
// message.
void order(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  constexpr int rounds = 40;
  const auto length = [](int i) { return static_cast<std::size_t>(i % 7 == 0 ? 5000 + i : i); };
  std::vector<bytes> mine;
  std::vector<detail::pending_call> out;
  for (int i = 0; i < rounds; ++i) mine.push_back(contents(world.rank() + i, i % 3, length(i)));
  for (int i = 0; i < rounds; ++i)
    out.push_back(detail::start_send(c, send_to(r.right, i % 3, mine[static_cast<std::size_t>(i)])));
  bytes got;
  std::vector<int> next = {0, 1, 2};
  const auto expect = [&](int tag, const envelope& e) {
    const auto t = static_cast<std::size_t>(tag);
    expect_envelope(e, r.left, tag, length(next[t]));
    check.equal(got, contents(r.left + next[t], tag, length(next[t])));
    next[t] += 3;
  };
  for (int i = 0; i < 5; ++i) expect(2, detail::receive(c, recv_any_length(r.left, 2, got)));
  for (int i = 0; i < 4; ++i) expect(1, detail::receive(c, recv_any_length(rank::any, 1, got)));
  for (int i = 9; i < rounds; ++i) {
    const int oldest = *std::min_element(next.begin(), next.end());
    expect(oldest % 3, detail::receive(c, recv_any_length(i % 2 ? rank::any : r.left, tags::any, got)));
  }
  for (auto& one : out) one->wait();
}

// Receives match messages in the order in which they began, wildcards included.
void posted_order(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  for (const std::size_t n : {std::size_t{8}, std::size_t{9000}}) {
    std::vector<bytes> got(4, bytes(n + 3));
    std::vector<detail::pending_call> in;
    // Matches the first message.
    in.push_back(detail::start_receive(c, recv_into(rank::any, tags::any, got[0])));
    // Matches the second message of tag 6.
    in.push_back(detail::start_receive(c, recv_into(r.left, 6, got[1])));
    in.push_back(detail::start_receive(c, recv_into(r.left, 5, got[2])));
    in.push_back(detail::start_receive(c, recv_any_length(rank::any, tags::any, got[3])));
    world.barrier();
    const int sent[] = {6, 5, 6, 7};
    std::vector<bytes> mine;
    std::vector<detail::pending_call> out;
    for (int i = 0; i < 4; ++i)
      mine.push_back(contents(world.rank(), sent[i], n + static_cast<std::size_t>(i)));
    for (std::size_t i = 0; i < 4; ++i)
      out.push_back(detail::start_send(c, send_to(r.right, sent[i], mine[i])));
    for (std::size_t k : {3, 1, 0, 2}) in[k]->wait();
    expect_envelope(detail::found(*in[0]), r.left, 6, n);
    expect_envelope(detail::found(*in[1]), r.left, 6, n + 2);
    expect_envelope(detail::found(*in[2]), r.left, 5, n + 1);
    expect_envelope(detail::found(*in[3]), r.left, 7, n + 3);
    for (std::size_t k = 0; k < 4; ++k) {
      const envelope e = detail::found(*in[k]);
      got[k].resize(e.bytes);
      check.equal(got[k], contents(r.left, e.tag, e.bytes));
    }
    for (auto& one : out) one->wait();
  }
}

void many_to_one(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const int p = world.size();
  constexpr int each = 6;
  const auto length = [](int from, int i) { return static_cast<std::size_t>(from % 3 == 2 ? 6000 : i * 3); };
  for (int to_whom = 0; to_whom < p; to_whom += 1 + p / 3) {
    std::vector<detail::pending_call> out;
    std::vector<bytes> mine;
    for (int i = 0; i < each; ++i) mine.push_back(contents(world.rank(), i, length(world.rank(), i)));
    for (int i = 0; i < each; ++i)
      out.push_back(detail::start_send(c, send_to(to_whom, i, mine[static_cast<std::size_t>(i)])));
    if (world.rank() == to_whom) {
      std::vector<int> next(static_cast<std::size_t>(p));
      for (int i = 0; i < each * p; ++i) {
        bytes got;
        const envelope e = detail::receive(c, recv_any_length(rank::any, tags::any, got));
        const int tag = next[static_cast<std::size_t>(e.source)]++;
        expect_envelope(e, e.source, tag, length(e.source, tag));
        check.equal(got, contents(e.source, tag, e.bytes));
      }
      for (const int n : next) check.equal(n, each);
    }
    for (auto& one : out) one->wait();
  }
}

// A synchronous send is not complete before its receive has begun. A small standard send and a
// buffered send are complete at once.
void synchronous(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  for (const std::size_t n : {std::size_t{0}, std::size_t{16}, std::size_t{20000}}) {
    const bytes mine = contents(world.rank(), 1, n);
    auto out = detail::start_send(c, send_to(r.right, 1, mine, send_modes::synchronous, "issend"));
    world.barrier();
    for (int i = 0; i < 50; ++i) check.that(!out->test(), "nobody has begun to receive it");
    {
      bytes again = mine;
      auto copied = detail::start_send(c, send_to(r.right, 2, again, send_modes::buffered, "ibsend"));
      check.that(copied->test(), "a buffered send is complete at once");
      again.assign(n, 0xaa);
    }
    world.barrier();
    bytes got(n);
    auto in = detail::start_receive(c, recv_into(r.left, 1, got));
    out->wait();
    in->wait();
    check.equal(got, contents(r.left, 1, n));
    expect_envelope(detail::receive(c, recv_into(r.left, 2, got)), r.left, 2, n);
    check.equal(got, contents(r.left, 1, n));
  }
}

void probes(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  envelope e;
  world.barrier();
  check.that(!detail::probe(c, "iprobe", rank::any, tags::any, false, e));
  world.barrier();
  std::vector<bytes> mine;
  std::vector<detail::pending_call> out;
  for (const std::size_t n : {10, 5000, 30}) mine.push_back(contents(world.rank(), 4, n));
  for (const bytes& b : mine) out.push_back(detail::start_send(c, send_to(r.right, 4, b)));
  check.that(detail::probe(c, "probe", r.left, 4, true, e));
  expect_envelope(e, r.left, 4, 10);
  check.that(detail::probe(c, "probe", rank::any, tags::any, true, e));
  expect_envelope(e, r.left, 4, 10);
  check.that(!detail::probe(c, "iprobe", r.left, 5, false, e));

  detail::matched_message* first = detail::mprobe(c, "mprobe", rank::any, tags::any, true, e);
  expect_envelope(e, r.left, 4, 10);
  detail::matched_message* second = nullptr;
  while (second == nullptr) second = detail::mprobe(c, "improbe", r.left, 4, false, e);
  expect_envelope(e, r.left, 4, 5000);
  check.that(detail::mprobe(c, "improbe", r.left, 99, false, e) == nullptr);
  detail::put_back(c, first);  // it is now before the third message again
  bytes got;
  expect_envelope(detail::receive(c, recv_any_length(r.left, tags::any, got)), r.left, 4, 10);
  recv_args of_second = recv_any_length(rank::any, tags::any, got);
  of_second.matched = second;
  expect_envelope(detail::receive(c, of_second), r.left, 4, 5000);
  check.equal(got, contents(r.left, 4, 5000));

  detail::matched_message* third = detail::mprobe(c, "mprobe", r.left, 4, true, e);
  bytes late(30);
  auto in = detail::start_receive(c, recv_into(rank::any, 4, late));
  check.that(!in->test());
  detail::put_back(c, third);  // to the receive that waits
  in->wait();
  check.equal(late, contents(r.left, 4, 30));
  for (auto& one : out) one->wait();
}

// A rejected message can be received again, unless it is too long or its container throws.
void usage_errors(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  for (const std::size_t n : {std::size_t{10}, std::size_t{5002}}) {
    const bytes mine = contents(world.rank(), 1, n);
    auto out = detail::start_send(c, send_to(r.right, 1, mine));
    bytes got;
    recv_args of_threes = recv_any_length(r.left, 1, got);
    of_threes.element = 4;
    check.throws<mismatch_error>([&] { detail::receive(c, of_threes); },
                                 {"recv", "recv_buf", "whole number"});
    recv_args throws = recv_any_length(r.left, 1, got);
    throws.allocate = [](void*, const envelope&) -> void* {
      throw usage_error("recv", -1, "recv_buf", "no room", "make room");
    };
    check.throws<usage_error>([&] { detail::receive(c, throws); }, {"no room"});
    auto refused = detail::start_receive(c, throws);
    check.throws<usage_error>([&] { refused->wait(); }, {"no room"});
    expect_envelope(detail::found(*refused), rank::null, tags::any, 0);
    {
      auto dropped = detail::start_receive(c, throws);  // destroyed without an error
    }
    envelope e;
    recv_args held = of_threes;
    held.matched = detail::mprobe(c, "mprobe", r.left, 1, true, e);
    check.throws<mismatch_error>([&] { detail::receive(c, held); }, {"whole number"});
    held.element = 1;
    expect_envelope(detail::receive(c, held), r.left, 1, n);
    check.equal(got, contents(r.left, 1, n));
    out->wait();

    auto longer = detail::start_send(c, send_to(r.right, 1, mine, send_modes::synchronous));
    bytes small(n - 1, 7);
    check.throws<truncation_error>([&] { detail::receive(c, recv_into(r.left, 1, small)); }, {"recv_count"});
    check.equal(small, bytes(n - 1, 7));
    longer->wait();
    auto lost = detail::start_send(c, send_to(r.right, 1, mine, send_modes::synchronous));
    throws.allocate = [](void*, const envelope&) -> void* { throw std::length_error("no room"); };
    check.throws<std::length_error>([&] { detail::receive(c, throws); }, {"no room"});
    lost->wait();
    world.barrier();
    check.that(!detail::probe(c, "iprobe", rank::any, tags::any, false, e), "both messages are used up");
    world.barrier();
  }
}

void wrong_arguments(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  bytes b(3);
  for (const int bad : {-1, world.size(), rank::any})
    check.throws<usage_error>([&] { detail::send(c, send_to(bad, 0, b)); }, {"send", "destination"});
  check.throws<usage_error>([&] { detail::start_send(c, send_to(0, -5, b, send_modes::standard, "isend")); },
                            {"isend", "tag", "-5"});
  check.throws<usage_error>([&] { detail::send(c, send_to(0, tags::any, b)); }, {"tag"});
  check.throws<usage_error>([&] { detail::receive(c, recv_into(world.size(), 0, b)); }, {"recv", "source"});
  check.throws<usage_error>([&] { detail::prepare_receive(c, recv_into(0, -7, b)); }, {"tag"});
  envelope e;
  check.throws<usage_error>([&] { detail::probe(c, "probe", -1, 0, true, e); }, {"probe", "source"});
  auto freed = world.duplicate();
  auto prepared = detail::prepare_receive(detail::impl_of(freed), recv_into(rank::any, 0, b));
  freed.free();
  check.throws<usage_error>([&] { detail::send(detail::impl_of(freed), send_to(0, 0, b)); },
                            {"communicator", "freed"});
  check.throws<usage_error>([&] { prepared->start(); }, {"communicator", "freed"});
}

void persistent(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  const ring r(world);
  for (const send_modes mode : modes)
    for (const std::size_t n : {std::size_t{8}, std::size_t{70000}}) {
      bytes mine(n), got(n);
      auto in = detail::prepare_receive(c, recv_into(rank::any, 8, got));
      auto out = detail::prepare_send(c, send_to(r.right, 8, mine, mode));
      in->wait();  // no call is in progress
      for (int i = 0; i < 4; ++i) {
        std::ranges::copy(contents(world.rank() + i, 8, n), mine.begin());
        in->start();
        check.throws<usage_error>([&] { in->start(); }, {"in progress"});
        if (mode == send_modes::ready) world.barrier();
        out->start();
        out->wait();
        in->wait();
        expect_envelope(detail::found(*in), r.left, 8, n);
        check.equal(got, contents(r.left + i, 8, n));
        if (mode == send_modes::ready) world.barrier();
      }
    }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    // Wildcards of one case must not match messages of the next case.
    const auto run = [&](const std::string& name, const auto& body) {
      cases(name, [&] {
        world.barrier();
        body();
        world.barrier();
      });
    };
    const char* const names[] = {"standard", "buffered", "synchronous", "ready"};
    for (int m = 0; m < 4; ++m) {
      run(std::string("pairs/") + names[m], [&] { pairs(world, modes[m]); });
      if (modes[m] != send_modes::ready)
        run(std::string("shifts/") + names[m], [&] { shifts(world, modes[m]); });
    }
    run("to_oneself", [&] { to_oneself(world); });
    run("null_rank", [&] { null_rank(world); });
    run("order", [&] { order(world); });
    run("posted_order", [&] { posted_order(world); });
    run("many_to_one", [&] { many_to_one(world); });
    run("synchronous", [&] { synchronous(world); });
    run("probes", [&] { probes(world); });
    run("usage_errors", [&] { usage_errors(world); });
    run("wrong_arguments", [&] { wrong_arguments(world); });
    run("persistent", [&] { persistent(world); });
  });
}
