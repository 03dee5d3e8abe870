// SPDX-License-Identifier: Apache-2.0
//
// Tests communicators over chains, rings, logchains and logrings, whose members know a few others
// only: every collective after random splits, messages to known members, and errors for the others.
// The api_* programs run on them too (CMakeLists.txt).
#include "support/group_kinds.hpp"

#include <vector>

#include <tutti/double_exscan.hpp>
#include <tutti/group.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/computes.hpp"
#include "support/program.hpp"
#include "support/split_oracle.hpp"

using namespace tutti;
using tests::check, tests::computes, tests::ints, tests::split_case;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

ints all_ranks(const communicator& world) {
  ints all;
  for (int r = 0; r < world.size(); ++r) all.push_back(r);
  return all;
}

// Whether a member of a group of n knows another one, by the definition of the four structures.
bool can_address(std::string_view kind, int from, int to, int n) {
  const bool log = kind.substr(0, 3) == "log", around = kind == "ring" || kind == "logring";
  for (int hop = 1; hop == 1 || (log && hop < n); hop *= 2)
    for (const int r : {from - hop, from + hop})
      if (r == to || (around && ((r % n) + n) % n == to)) return true;
  return from == to;
}

template <class Structure>
void splits(const communicator& world, std::string_view kind) {
  const Structure all(world);
  const int me = world.rank();
  for (const split_case& c : tests::split_cases(world.size(), 11)) {
    const Structure part = all.split(c.colors[at(me)], c.keys[at(me)]);
    if (part.empty()) continue;
    const communicator made = world.over(part);
    const ints members = c.part_of(me);
    computes(world, made, members);
    for (int r = 0; r < made.size(); ++r)
      if (can_address(kind, made.rank(), r, made.size()))
        check.equal(made.translate(r, world), members[at(r)]);
      else
        check.throws<usage_error>([&] { (void)made.translate(r, world); }, {"translate", "does not know"});
    for (int r = 0; r < made.size(); ++r)
      if (can_address(kind, made.rank(), r, made.size()))
        check.equal(world.translate(members[at(r)], made), r);
      else
        check.throws<usage_error>([&] { (void)world.translate(members[at(r)], made); },
                                  {"translate", "split(0)"});
    const auto [before, behind] =
        made.double_exscan(send_buf(me), op([](int, int b) { return b; }, ops::non_commutative));
    check.equal(before, made.rank() == 0 ? ints{} : ints{members[at(made.rank() - 1)]});
    check.equal(behind, made.rank() + 1 == made.size() ? ints{} : ints{members.back()});
  }
}

void exchange_messages(const communicator& world, std::string_view kind) {
  const communicator few = tests::of_kind(world, kind);
  const int n = few.size(), me = few.rank();
  for (int r = 0; r < n; ++r)
    if (can_address(kind, me, r, n)) {
      few.bsend(send_buf(ints(at(r + 1), me)), destination(r), tag(r));
    } else {
      check.throws<usage_error>([&] { few.send(send_buf(1), destination(r)); },
                                {"send", "destination", "does not know"});
      check.throws<usage_error>([&] { few.recv<int>(source(r)); }, {"recv", "source", "does not know"});
      check.throws<usage_error>([&] { (void)few.isend(send_buf(1), destination(r)); },
                                {"destination", "does not know"});
    }
  int coming = 0;
  for (int r = 0; r < n; ++r)
    if (can_address(kind, me, r, n)) {
      ++coming;
      if (r % 2 == 0) check.equal(few.recv<int>(source(r), tag(me)), ints(at(me + 1), r));
    }
  for (int r = 1; r < n; r += 2)
    if (can_address(kind, me, r, n))
      check.equal(few.recv<int>(source(rank::any), tag(me)).size(), at(me + 1));
  check.that(coming > 0);
  few.barrier();
}

void out_of_reach(const communicator& world, std::string_view kind) {
  const communicator few = tests::of_kind(world, kind);
  const int n = few.size(), me = few.rank();
  const ints everybody = all_ranks(few);
  // A duplicate has the same known members; a split of it knows all members.
  computes(world, few.duplicate(), everybody);
  const std::optional<communicator> all = few.split(0);
  computes(world, *all, everybody);
  all->send(send_buf(me), destination((me + n / 2) % n));
  check.equal(all->recv_single<int>(source((me + n - n / 2) % n)), (me + n - n / 2) % n);
  const auto half = few.split_bin(2, me < n / 2);
  check.equal(half->size(), me < n / 2 ? n / 2 : n - n / 2);
  const communicator node = few.split_to_shared_memory();
  check.that(node.size() >= 1);
  check.throws<usage_error>([&] { few.range(0, n - 1); }, {"range", "communicator", "split(0)"});
  check.throws<usage_error>([&] { few.list(everybody); }, {"list", "communicator", "split(0)"});
  check.throws<usage_error>([&] { (void)chain(few); }, {"chain", "communicator", "split(0)"});
  check.throws<usage_error>([&] { (void)logring(few); }, {"logring", "communicator", "split(0)"});
  check.throws<usage_error>([&] { few.between(1); }, {"between", "communicator", "split(0)"});
  check.throws<usage_error>([&] { few.inter(world, 0); }, {"inter", "communicator", "split(0)"});
  check.throws<usage_error>([&] { world.inter(few, 0); }, {"inter", "communicator", "split(0)"});
}

// Structures of several kinds on the ranks.
void mixed(const communicator& world) {
  const int p = world.size(), me = world.rank();
  if (p < 2) return;
  check.throws<mismatch_error>(
      [&] {
        if (me == 1)
          (void)world.over(ring(world, all_ranks(world)));
        else
          (void)world.over(logchain(world));
      },
      {"over", "members", "different kinds"});
  world.barrier();
}

// Several of them have calls in progress at the same time, beside those of the world.
void concurrent_calls(const communicator& world) {
  const int p = world.size(), me = world.rank();
  std::vector<communicator> all;
  for (const std::string_view kind : tests::group_kinds) all.push_back(tests::of_kind(world, kind));
  for (int round = 0; round < 5; ++round) {
    auto of_world = world.iallreduce_single(send_buf(me), op(std::plus<>{}));
    std::vector<nonblocking_result<ints>> begun;
    for (std::size_t i = 0; i < all.size(); ++i)  // every second rank uses another order
      begun.push_back(all[me % 2 == 0 ? i : all.size() - 1 - i].iallgather(send_buf(me)));
    for (auto& one : begun) check.equal(one.wait()[at(p - 1)], p - 1);
    check.equal(of_world.wait(), p * (p - 1) / 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("chains", [&] { splits<chain>(world, "chain"); });
    cases("rings", [&] { splits<ring>(world, "ring"); });
    cases("logchains", [&] { splits<logchain>(world, "logchain"); });
    cases("logrings", [&] { splits<logring>(world, "logring"); });
    for (const std::string_view kind : tests::group_kinds) {
      cases("messages_" + std::string(kind), [&] { exchange_messages(world, kind); });
      cases("out_of_reach_" + std::string(kind), [&] { out_of_reach(world, kind); });
    }
    cases("mixed", [&] { mixed(world); });
    cases("concurrent_calls", [&] { concurrent_calls(world); });
  });
}
