// SPDX-License-Identifier: Apache-2.0
//
// Tests communicators that are made without a message, by range and by list, and by splits: their
// members, every collective, and messages. Overlapping communicators must never receive each
// other's messages, in whatever order they are made.
#include <numeric>
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/computes.hpp"
#include "support/program.hpp"
#include "support/split_oracle.hpp"

using namespace tutti;
using tests::check, tests::computes, tests::ints, tests::split_case;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Short and long messages, all modes, and nonblocking collectives.
void exchanges(const communicator& part) {
  const int n = part.size(), me = part.rank();
  const int right = (me + 1) % n, left = (me + n - 1) % n;
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{700}, std::size_t{5000}}) {
    const ints mine(length, me), theirs(length, left);
    auto sent = part.isend(send_buf(mine), destination(right), tag(7));
    check.equal(part.recv<int>(source(left), tag(7)), theirs);
    sent.wait();
    auto coming = part.irecv<int>(source(left));
    part.ssend(send_buf(mine), destination(right));
    check.equal(coming.wait(), theirs);
    part.bsend(send_buf(mine), destination(right), tag(100000));
    check.equal(part.recv<int>(source(rank::any), tag(100000)), theirs);
  }
  auto first = part.iallreduce_single(send_buf(me), op(std::plus<>{}));
  auto second = part.iallgather(send_buf(me));
  auto third = part.ibarrier();
  check.equal(second.wait()[at(n - 1)], n - 1);
  third.wait();
  check.equal(first.wait(), n * (n - 1) / 2);
  int x = me, y = 0;
  auto plan = part.allreduce_init(send_buf(x), recv_buf(y), op(std::plus<>{}));
  for (int i = 0; i < 3; ++i) {
    x = me + i;
    plan.start();
    plan.wait();
    check.equal(y, n * (n - 1) / 2 + i * n);
  }
}

ints from_to(int first, int last, int stride) {
  ints all;
  for (int r = first; stride > 0 ? r <= last : r >= last; r += stride) all.push_back(r);
  return all;
}
bool has(const ints& v, int x) { return std::find(v.begin(), v.end(), x) != v.end(); }

void ranges(const communicator& world) {
  const int p = world.size(), me = world.rank();
  for (const auto& [first, last, stride] : {std::array{0, p - 1, 1},
                                            {p - 1, 0, -1},
                                            {0, (p - 1) / 2 * 2, 2},
                                            {0, p / 2, 1},
                                            {p / 2, p - 1, 1},
                                            {(p - 1) / 3 * 3, 0, -3},
                                            {p / 3, p / 3, 1}}) {
    const ints members = from_to(first, last, stride);
    if (!has(members, me)) continue;
    const communicator part = world.range(first, last, stride);
    computes(world, part, members);
    exchanges(part);
  }
}

void lists(const communicator& world) {
  const int p = world.size(), me = world.rank();
  ints evens_then_odds, mixed;
  for (int r = 0; r < p; r += 2) evens_then_odds.push_back(r);
  for (int r = 1; r < p; r += 2) evens_then_odds.push_back(r);
  for (int r = 0; r < p; ++r)
    if (r % 3 != 1) mixed.insert(mixed.begin() + (r % 2 == 0 ? 0 : static_cast<long>(mixed.size())), r);
  for (const ints& members : {evens_then_odds, mixed, ints{me}}) {
    if (!has(members, me)) continue;
    const communicator part = world.list(members);
    computes(world, part, members);
    exchanges(part);
    // The same for parts of the part.
    const int n = part.size();
    if (n < 2) continue;
    const bool low = part.rank() < n / 2;
    const communicator half = low ? part.range(n / 2 - 1, 0, -1) : part.range(n / 2, n - 1);
    ints expected(low ? members.begin() : members.begin() + n / 2,
                  low ? members.begin() + n / 2 : members.end());
    if (low) std::reverse(expected.begin(), expected.end());
    computes(world, half, expected);
  }
}

void splits(const communicator& world, const communicator& of, const ints& members, unsigned seed,
            int depth) {
  for (const split_case& c : tests::split_cases(of.size(), seed)) {
    const auto part = of.split(c.colors[at(of.rank())], c.keys[at(of.rank())]);
    check.equal(part.has_value(), c.colors[at(of.rank())] >= 0);
    if (!part) continue;
    ints expected;
    for (const int r : c.part_of(of.rank())) expected.push_back(members[at(r)]);
    computes(world, *part, expected);
    exchanges(*part);
    if (depth > 0 && part->size() < of.size()) splits(world, *part, expected, seed + 1, depth - 1);
  }
}

void bins(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto part = world.split_bin(3, me % 4 - 1);
  check.equal(part.has_value(), me % 4 != 0);
  if (part) computes(world, *part, from_to(me % 4, (p - 1 - me % 4) / 4 * 4 + me % 4, 4));
  check.throws<usage_error>([&] { world.split_bin(2, me == p - 1 ? 2 : 0); },
                            {"split_bin", "is 2 on rank", std::to_string(p - 1).c_str()});
  check.throws<usage_error>([&] { world.split_bin(-1, -1); }, {"split_bin", "bins", "-1"});
  if (p > 1)
    check.throws<mismatch_error>([&] { world.split_bin(me == p - 1 ? 2 : 3, 0); },
                                 {"split_bin", "bins", "on rank"});
  check.throws<usage_error>([&] { world.range(me, me, 0); }, {"range", "stride", "is 0"});
  world.barrier();
}

// Halves down to single ranks, and checks the groups again on the way back.
void nested(const communicator& of, int depth) {
  const int n = of.size();
  check.equal(of.allreduce_single(send_buf(1), op(std::plus<>{})), n);
  if (n == 1) return;
  nested(of.rank() < n / 2 ? of.range(0, n / 2 - 1) : of.range(n / 2, n - 1), depth + 1);
  check.equal(of.allgather(send_buf(depth)), ints(at(n), depth));
}

// Two groups that share several ranks, with calls of both in progress at once and waits in any
// order. Then the same group twice.
void overlapping(const communicator& world) {
  const int p = world.size(), me = world.rank();
  if (p < 3) return;
  const bool in_low = me<p - 1, in_high = me> 0;
  std::optional<communicator> low, high, again;
  // Every second rank makes them in another order.
  if (me % 2 == 0 && in_low) low = world.range(0, p - 2);
  if (in_high) high = world.range(1, p - 1);
  if (me % 2 == 1 && in_low) low = world.range(0, p - 2);
  if (in_low) again = world.range(0, p - 2);
  for (int round = 0; round < 20; ++round) {
    std::optional<nonblocking_result<int>> a, b, c;
    const auto begin = [&](std::optional<nonblocking_result<int>>& r, const std::optional<communicator>& comm,
                           int x) {
      if (comm) r.emplace(comm->iallreduce_single(send_buf(int{x}), op(std::plus<>{})));
    };
    if ((me + round) % 2 == 0) {
      begin(a, low, 1), begin(b, high, 100), begin(c, again, 10000);
    } else {
      begin(c, again, 10000), begin(b, high, 100), begin(a, low, 1);
    }
    if (b) check.equal(b->wait(), 100 * (p - 1));
    if (a) check.equal(a->wait(), p - 1);
    if (c) check.equal(c->wait(), 10000 * (p - 1));
  }
}

// A wildcard receive on the parent, and then on one of two groups of the same ranks.
void wildcards_pending(const communicator& world) {
  const int p = world.size(), me = world.rank();
  auto pending = world.irecv<int>(source(rank::any));
  const communicator part = world.range(0, p - 1), other = world.range(0, p - 1);
  auto in_part = part.irecv<int>(source(rank::any), tag(tags::any));
  computes(world, part, from_to(0, p - 1, 1));
  exchanges(other);
  check.that(!pending.test().has_value() && !in_part.test().has_value(),
             "what belongs to another group was received");
  world.barrier();
  world.send(send_buf(me), destination((me + 1) % p));
  check.equal(pending.wait(), ints{(me + p - 1) % p});
  part.send(send_buf(-me), destination((me + 1) % p));
  check.equal(in_part.wait(), ints{-((me + p - 1) % p)});
}

void translated(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const communicator backwards = world.range(p - 1, 0, -1);
  for (int r = 0; r < p; ++r) {
    check.equal(backwards.translate(r, world), p - 1 - r);
    check.equal(world.translate(r, backwards), p - 1 - r);
  }
  check.equal(world.translate(rank::null, backwards), rank::null);
  const auto every_second = world.split(me % 2);
  for (int r = 0; r < p; ++r)
    check.equal(world.translate(r, *every_second), r % 2 == me % 2 ? r / 2 : rank::null);
  const communicator alone = world.list({me});
  for (int r = 0; r < p; ++r) check.equal(backwards.translate(r, alone), p - 1 - r == me ? 0 : rank::null);
  check.throws<usage_error>([&] { world.translate(p, alone); }, {"translate", "rank"});
  check.throws<usage_error>([&] { world.translate(-1, alone); }, {"translate", "rank"});
}

void numbered_texts(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto [number, count] = world.number_distinct(std::string(at(me % 3), 'x'));
  check.equal(number, me % 3);
  check.equal(count, std::min(p, 3));
  const auto all =
      world.number_distinct("node" + std::to_string(p - me) + "of many that do not fit anywhere small");
  check.equal(all.count, p);
  const auto same = world.number_distinct("");
  check.equal(same.index, 0);
  check.equal(same.count, 1);
}

void refused(const communicator& world) {
  const int p = world.size(), me = world.rank();
  const auto no = [&](auto&& call, std::initializer_list<const char*> words) {
    check.throws<usage_error>(call, words);
  };
  no([&] { world.range(-1, p - 1); }, {"range", "first", "-1"});
  no([&] { world.range(0, p); }, {"range", "last", ("ranks are 0 to " + std::to_string(p - 1)).c_str()});
  no([&] { world.range(me, me, 0); }, {"range", "stride", "is 0"});
  if (p > 1) {
    no([&] { world.range(0, p - 1, -1); }, {"range", "stride", "does not lead"});
    no([&] { world.range((me + 1) % p, (me + 1) % p); }, {"range", "leave this rank out"});
    no([&] { world.list({(me + 1) % p}); }, {"list", "ranks", "leaves this rank out"});
  }
  if (p > 2) no([&] { world.range(0, p - 1, p); }, {"range", "stride", "does not lead"});
  no([&] { world.list({me, me}); }, {"list", "ranks", "twice"});
  no([&] { world.list({me, -3}); }, {"list", "ranks", "-3"});
  no([&] { world.list(ints{}); }, {"list", "ranks", "leaves this rank out"});
  communicator gone = world.range(0, p - 1);
  gone.free();
  no([&] { gone.barrier(); }, {"freed"});
  no([&] { gone.range(0, p - 1); }, {"range", "freed"});
  no([&] { gone.list({me}); }, {"list", "freed"});
  no([&] { gone.split(0); }, {"split", "freed"});
  no([&] { gone.number_distinct("x"); }, {"number_distinct", "freed"});
  world.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("ranges", [&] { ranges(world); });
    cases("lists", [&] { lists(world); });
    cases("splits", [&] { splits(world, world, from_to(0, world.size() - 1, 1), 3, 1); });
    cases("bins", [&] { bins(world); });
    cases("nested", [&] { nested(world, 0); });
    cases("overlapping", [&] { overlapping(world); });
    cases("wildcards_pending", [&] { wildcards_pending(world); });
    cases("translated", [&] { translated(world); });
    cases("numbered_texts", [&] { numbered_texts(world); });
    cases("refused", [&] { refused(world); });
  });
}
