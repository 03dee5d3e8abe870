// SPDX-License-Identifier: Apache-2.0
//
// Tests point-to-point messages beside other operations of a rank: collectives that wait while
// others need this rank's receives, several communicators, and random traffic. Below the C++ API,
// the same as p2p.cpp.
#include <algorithm>
#include <functional>
#include <memory>
#include <random>

#include <tutti/tutti.hpp>

#include "support/failure_report.hpp"
#include "support/p2p.hpp"
#include "support/program.hpp"

using namespace tutti;
using namespace tests;
using detail::communicator_impl;

namespace {

constexpr std::size_t large = 300000;

int left_of(const communicator& c) { return (c.rank() + c.size() - 1) % c.size(); }
int right_of(const communicator& c) { return (c.rank() + 1) % c.size(); }

using collective_call = std::function<void(communicator&)>;

void add_up(communicator& c, const char* by) {
  std::vector<int> v(40, c.rank() + 1);
  if (by == nullptr)
    c.allreduce(send_recv_buf(v), op(std::plus<>{}));
  else
    c.allreduce(send_recv_buf(v), op(std::plus<>{}), algorithm(by));
  check.equal(v, std::vector<int>(40, c.size() * (c.size() + 1) / 2));
}

// Even ranks have a receive in progress and wait in the collective. Odd ranks first send a message
// that needs this receive, and then call the collective.
void receive_before(communicator& world, const collective_call& synchronize, send_modes mode, std::size_t n) {
  communicator_impl& c = detail::impl_of(world);
  const int me = world.rank(), other = me ^ 1;
  const bool receives = me % 2 == 0 && other < world.size(), sends = me % 2 == 1;
  const bytes mine = contents(me, 1, n);
  bytes got(n + 5);
  detail::pending_call in;
  if (receives) in = detail::start_receive(c, recv_into(rank::any, 1, got));
  if (sends) detail::send(c, send_to(other, 1, mine, mode));
  synchronize(world);
  if (receives) {
    in->wait();
    expect_envelope(detail::found(*in), other, 1, n);
    got.resize(n);
    check.equal(got, contents(other, 1, n));
  }
}

// Several receives; a later receive that would match the same message must not overtake an earlier
// one.
void receives_before(communicator& world, const collective_call& synchronize) {
  communicator_impl& c = detail::impl_of(world);
  const int me = world.rank(), other = me ^ 1;
  const bool receives = me % 2 == 0 && other < world.size(), sends = me % 2 == 1;
  std::vector<bytes> got(5, bytes(large));
  std::vector<detail::pending_call> in;
  if (receives) {
    in.push_back(detail::start_receive(c, recv_into(other, 3, got[0])));
    in.push_back(detail::start_receive(c, recv_into(rank::any, tags::any, got[1])));
    in.push_back(detail::start_receive(c, recv_into(other, 3, got[2])));
    in.push_back(detail::start_receive(c, recv_any_length(other, 4, got[3])));
    // Matches the second message of tag 4.
    in.push_back(detail::start_receive(c, recv_into(other, 4, got[4])));
  }
  const int sent[] = {5, 3, 3, 4, 4};
  const std::size_t goes_to[] = {1, 0, 2, 3, 4};
  if (sends)
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t n = i < 3 ? large - i : 100 + i;
      const bytes mine = contents(me, sent[i], n);
      detail::send(c, send_to(other, sent[i], mine));
    }
  synchronize(world);
  if (!receives) return;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t k = goes_to[i], n = i < 3 ? large - i : 100 + i;
    in[k]->wait();
    expect_envelope(detail::found(*in[k]), other, sent[i], n);
    got[k].resize(n);
    check.equal(got[k], contents(other, sent[i], n));
  }
}

// The wait of a failing receive reports the error, not the collective that progresses it.
void refused_beside(communicator& world, const collective_call& synchronize) {
  communicator_impl& c = detail::impl_of(world);
  const bytes mine = contents(world.rank(), 1, 50);
  bytes got, small(20);
  auto throws = recv_any_length(left_of(world), 1, got);
  throws.allocate = [](void*, const envelope&) -> void* {
    throw usage_error("recv", -1, "recv_buf", "no room", "make room");
  };
  auto first = detail::start_receive(c, throws);
  auto second = detail::start_receive(c, recv_into(left_of(world), 1, small));
  detail::send(c, send_to(right_of(world), 1, mine));
  synchronize(world);
  check.throws<truncation_error>([&] { second->wait(); }, {"recv_count"});
  check.throws<usage_error>([&] { first->wait(); }, {"no room"});
}

// Nonblocking collectives progress while this rank waits for messages, and the reverse.
void beside_nonblocking(communicator& world) {
  communicator_impl& c = detail::impl_of(world);
  for (const std::size_t n : {std::size_t{8}, large}) {
    std::vector<int> v(1000, 1);
    const bytes mine = contents(world.rank(), 2, n);
    bytes got;
    auto in = detail::start_receive(c, recv_any_length(left_of(world), 2, got));
    auto sum = world.iallreduce(send_buf(v), op(std::plus<>{}));
    auto out = detail::start_send(c, send_to(right_of(world), 2, mine, send_modes::synchronous));
    out->wait();
    auto met = world.ibarrier();
    in->wait();
    met.wait();
    check.equal(sum.wait(), std::vector<int>(1000, world.size()));
    check.equal(got, contents(left_of(world), 2, n));
    detail::send(c, send_to(rank::null, 2, mine));
  }
}

// Communicators never match each other's messages. Waits on one communicator progress operations of
// the other.
void two_communicators(communicator& world) {
  communicator other = world.duplicate();
  communicator_impl &a = detail::impl_of(world), &b = detail::impl_of(other);
  const bytes to_a = contents(world.rank(), 1, large), to_b = contents(world.rank() + 100, 1, large - 1);
  bytes from_a(large), from_b;
  auto in_b = detail::start_receive(b, recv_any_length(rank::any, tags::any, from_b));
  auto in_a = detail::start_receive(a, recv_into(rank::any, tags::any, from_a));
  auto out_a = detail::start_send(a, send_to(right_of(world), 1, to_a));
  // The other end waits for the same.
  detail::send(b, send_to(right_of(world), 1, to_b, send_modes::synchronous));
  out_a->wait();
  in_a->wait();
  in_b->wait();
  check.equal(from_a, contents(left_of(world), 1, large));
  check.equal(from_b, contents(left_of(world) + 100, 1, large - 1));
  // A message whose sender has already left the communicator.
  bytes last;
  const bool sends = world.rank() % 2 == 1,
             receives = world.rank() % 2 == 0 && world.rank() + 1 < world.size();
  auto brief = std::make_unique<communicator>(world.duplicate());
  if (sends) {
    detail::send(detail::impl_of(*brief), send_to(world.rank() - 1, 9, to_b, send_modes::buffered));
    brief.reset();
  }
  world.barrier();
  if (receives) {
    expect_envelope(detail::receive(detail::impl_of(*brief), recv_any_length(rank::any, 9, last)),
                    world.rank() + 1, 9, large - 1);
    check.equal(last, contents(world.rank() + 101, 1, large - 1));
  }
}

// Rank numbers are those of the communicator, which may have fewer ranks than the job, in another
// order.
void in_a_part(communicator& world) {
  const communicator part = *world.split(world.rank() % 2, -world.rank());
  communicator_impl& c = detail::impl_of(part);
  for (const std::size_t n : {std::size_t{8}, large}) {
    const bytes mine = contents(part.rank(), 1, n);
    bytes got;
    auto in = detail::start_receive(c, recv_any_length(rank::any, 1, got));
    detail::send(c, send_to(right_of(part), 1, mine, send_modes::synchronous));
    in->wait();
    expect_envelope(detail::found(*in), left_of(part), 1, n);
    check.equal(got, contents(left_of(part), 1, n));
  }
}

// Every rank draws the same traffic in rounds: senders, receivers and messages. Receives begin in
// any order, and use wildcards if the tag identifies the message.
struct drawn {
  int from, to, tag;
  std::size_t bytes;
  send_modes mode;
};

void soak(communicator& world, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<int>(draw() % n); };
  const int p = world.size(), me = world.rank();
  communicator other = world.duplicate();
  for (int round = 0; round < 8; ++round) {
    communicator_impl& c = round % 2 ? detail::impl_of(world) : detail::impl_of(other);
    std::vector<drawn> all(static_cast<std::size_t>(2 * p + below(20)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      constexpr std::size_t lengths[] = {0, 3, 8, 500, 1024, 1025, 4096, 4097, 20000, 150000};
      all[i] = {below(static_cast<std::uint64_t>(p)), below(static_cast<std::uint64_t>(p)),
                static_cast<int>(i), lengths[below(10)], static_cast<send_modes>(below(3))};
    }
    std::vector<std::size_t> mine, theirs;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].to == me) mine.push_back(i);
      if (all[i].from == me) theirs.push_back(i);
    }
    const int style = below(3);
    std::mt19937_64 own(seed + static_cast<std::uint64_t>(me) * 77 + static_cast<std::uint64_t>(round));
    std::shuffle(mine.begin(), mine.end(), own);
    std::vector<bytes> out_bytes(theirs.size()), in_bytes(mine.size());
    std::vector<detail::pending_call> out, in;
    const auto send_all = [&] {
      for (std::size_t k = 0; k < theirs.size(); ++k) {
        const drawn& d = all[theirs[k]];
        out_bytes[k] = contents(me, d.tag, d.bytes);
        out.push_back(detail::start_send(c, send_to(d.to, d.tag, out_bytes[k], d.mode, "isend")));
      }
    };
    if (style == 1) send_all();
    for (std::size_t k = 0; k < mine.size() && style != 2; ++k) {
      const drawn& d = all[mine[k]];
      in_bytes[k].resize(d.bytes);
      in.push_back(own() % 2 ? detail::start_receive(
                                   c, recv_any_length(own() % 2 ? rank::any : d.from, d.tag, in_bytes[k]))
                             : detail::start_receive(c, recv_into(d.from, d.tag, in_bytes[k])));
    }
    if (style != 1) send_all();
    if (style == 0 && below(2)) add_up(world, below(2) ? "ring" : nullptr);
    if (style == 2) {  // receives any message
      for (std::size_t k = 0; k < mine.size(); ++k) {
        bytes got;
        const envelope e = detail::receive(c, recv_any_length(rank::any, tags::any, got));
        const drawn& d = all[static_cast<std::size_t>(e.tag)];
        check.equal(d.to, me);
        expect_envelope(e, d.from, d.tag, d.bytes);
        check.equal(got, contents(d.from, d.tag, d.bytes));
      }
    } else {
      std::vector<std::size_t> turn(in.size());
      for (std::size_t k = 0; k < turn.size(); ++k) turn[k] = k;
      std::shuffle(turn.begin(), turn.end(), own);
      for (const std::size_t k : turn) {
        const drawn& d = all[mine[k]];
        if (own() % 2) {
          while (!in[k]->test()) {
          }
        } else {
          in[k]->wait();
        }
        expect_envelope(detail::found(*in[k]), d.from, d.tag, d.bytes);
        check.equal(in_bytes[k], contents(d.from, d.tag, d.bytes));
      }
    }
    for (auto& one : out) one->wait();
    world.barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const std::pair<const char*, collective_call> collectives[] = {
        {"barrier", [](communicator& c) { c.barrier(); }},
        {"allreduce", [](communicator& c) { add_up(c, nullptr); }},
        {"native", [](communicator& c) { add_up(c, "native"); }},
        {"schedule", [](communicator& c) { add_up(c, "recursive_doubling"); }},
        {"duplicate", [](communicator& c) { c.duplicate().barrier(); }},
    };
    for (const auto& [name, synchronize] : collectives) {
      const std::string of = std::string("/") + name;
      for (const std::size_t n : {std::size_t{8}, large}) {
        const std::string bytes = of + "/" + std::to_string(n);
        cases("receive_before" + bytes + "/standard",
              [&] { receive_before(world, synchronize, send_modes::standard, n); });
        cases("receive_before" + bytes + "/synchronous",
              [&] { receive_before(world, synchronize, send_modes::synchronous, n); });
      }
      cases("receives_before" + of, [&] { receives_before(world, synchronize); });
    }
    cases("refused_beside", [&] { refused_beside(world, [](communicator& c) { c.barrier(); }); });
    cases("in_a_part", [&] { in_a_part(world); });
    cases("two_communicators", [&] { two_communicators(world); });
    const std::uint64_t first = selected_seed().value_or(1), last = selected_seed().value_or(6);
    for (std::uint64_t seed = first; seed <= last; ++seed)
      cases("soak/" + std::to_string(seed), [&] { soak(world, seed); });
    cases("beside_nonblocking", [&] { beside_nonblocking(world); });
    // From here on, the communicator polls its native calls over MPI.
    for (const auto& [name, synchronize] : collectives)
      cases(std::string("receives_before/mixing/") + name, [&] { receives_before(world, synchronize); });
  });
}
