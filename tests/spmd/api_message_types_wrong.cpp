// SPDX-License-Identifier: Apache-2.0
//
// Tests messages whose layouts, counts or buffers do not fit. The call is rejected before it
// accesses memory outside a container. The message stays and can be received otherwise.
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/strided_items.hpp"

using namespace tutti;
using tests::check, tests::ints, tests::items_by, tests::ring, tests::wide;

namespace {

template <class Error, class Call>
void refused(Call&& call, std::initializer_list<const char*> words,
             const std::source_location& at = std::source_location::current()) {
  check.throws<Error>(call, words, at);
}

void refused_to_send(const communicator& world) {
  const ring r(world);
  const ints mine = wide.spread(items_by(r.me, 3), 0);
  const layout item = wide.item();
  const layout before = layout::indexed({{0, 1}, {-1, 1}}, type_of<int>());
  const auto to = [&] { return destination(r.right); };
  refused<usage_error>([&] { world.send(send_buf(mine), send_type(item), send_count(4), to()); },
                       {"send", "send_count", "4 items reach to byte"});
  refused<usage_error>([&] { (void)world.isend(send_buf(mine), send_type(item), send_count(-1), to()); },
                       {"isend", "send_count", "negative"});
  refused<usage_error>(
      [&] { (void)world.send_init(send_buf(mine), send_type(item), send_count(0x7fffffffffffffff), to()); },
      {"send_init", "send_count", "address space"});
  refused<usage_error>([&] { world.bsend(send_buf(mine), send_type(before), send_count(1), to()); },
                       {"bsend", "send_type", "4 bytes before"});
  ints both = mine;
  refused<usage_error>(
      [&] { world.sendrecv(send_recv_buf(both), send_recv_type(item), send_count(1), recv_count(4), to()); },
      {"sendrecv", "send_recv_buf", "reach"});
  check.equal(both, mine);
}

// Each of these leaves the message and the buffer unchanged, except the truncated one.
void refused_to_receive(const communicator& world) {
  const ring r(world);
  const layout item = wide.item();
  const auto from = [&] { return source(r.left); };
  for (int n : {3, 1001}) {
    const ints mine = items_by(r.me, n), odd(mine.begin(), mine.end() - 1);
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
                              {"recv", "not a whole number"});
    refused<mismatch_error>([&] { world.recv(recv_buf(few), recv_type(layout()), from()); },
                            {"recv", "recv_type"});
    check.equal(few, untouched);
    check.equal(world.recv<int>(from()), items_by(r.left, n));
    under_way.wait();

    under_way = world.isend(send_buf(odd), destination(r.right));
    refused<mismatch_error>([&] { world.recv(recv_buf(few), recv_type(item), from()); },
                            {"recv", "not a whole number"});
    check.equal(world.recv<int>(from()).size(), odd.size());
    under_way.wait();

    // A persistent receive that threw has nothing to unpack and can be started again.
    auto again = world.recv_init(recv_buf(few), recv_type(item), from());
    for (int round = 0; round < 2; ++round) {
      world.bsend(send_buf(items_by(r.me, n - 1, round)), destination(r.right));
      again.start();
      again.wait();
      world.bsend(send_buf(mine), destination(r.right));
      few = untouched;
      again.start();
      refused<usage_error>([&] { again.wait(); }, {"recv_init", "recv_buf"});
      again.wait();
      check.equal(few, untouched);
      check.equal(world.recv<int>(from()), items_by(r.left, n));
    }

    under_way = world.isend(send_buf(mine), destination(r.right));
    refused<truncation_error>([&] { world.recv(recv_buf(few), recv_type(item), recv_count(n - 1), from()); },
                              {"recv", "recv_count"});
    check.equal(few, untouched);
    under_way.wait();
  }
}

// A persistent call cannot be started again before a wait. Otherwise a received message would be
// lost, and packed data of a send would be overwritten.
void refused_to_start(const communicator& world) {
  const ring r(world);
  const layout item = wide.item();
  ints mine = wide.spread(items_by(r.me, 900)), got = wide.blank(900);
  auto sending = world.send_init(send_buf(mine), send_type(item), send_count(900), destination(r.right));
  auto receiving = world.recv_init(recv_buf(got), recv_type(item), source(r.left));
  receiving.start();
  refused<usage_error>([&] { receiving.start(); }, {"recv_init", "in progress"});
  sending.start();
  mine.assign(mine.size(), tests::canary);
  refused<usage_error>([&] { sending.start(); }, {"send_init", "in progress"});
  receiving.wait();
  sending.wait();
  check.equal(got, wide.spread(items_by(r.left, 900)));
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const auto run = [&](const char* name, const auto& body) {
      tests::isolated_case(world, cases, name, body);
    };
    run("refused_to_send", refused_to_send);
    run("refused_to_receive", refused_to_receive);
    run("refused_to_start", refused_to_start);
  });
}
